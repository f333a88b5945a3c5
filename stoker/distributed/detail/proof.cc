#include "stoker/distributed/detail/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace stoker::detail {

std::string keyed_digest(std::string_view secret, std::string_view label, std::string_view text) {
  std::string labelled(label);
  labelled += '\n';
  labelled += text;
  std::string out(kProofBytes, '\0');
  unsigned length = 0;
  ::HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(labelled.data()), labelled.size(),
         reinterpret_cast<unsigned char*>(out.data()), &length);
  return out;
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace stoker::detail
