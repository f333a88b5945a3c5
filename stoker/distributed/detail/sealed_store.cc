#include "stoker/distributed/detail/sealed_store.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/distributed/detail/proof.h"

namespace stoker::detail {
namespace {

std::string seal_of(const std::string& secret, const std::string& key, std::string_view value) {
  std::string text = fmt::format("{}:{}", key.size(), key);
  text += value;
  return keyed_digest(secret, "value", text);
}

bool has_seal(const std::string& secret, const std::string& key, std::string_view sealed) {
  return sealed.size() >= kProofBytes &&
         is_same(sealed.substr(0, kProofBytes), seal_of(secret, key, sealed.substr(kProofBytes)));
}

}  // namespace

c10::intrusive_ptr<c10d::Store> SealedStore::clone() {
  return c10::make_intrusive<SealedStore>(store_->clone(), secret_);
}

void SealedStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  const std::string text(value.begin(), value.end());
  store_->set(key, seal_of(secret_, key, text) + text);
}

std::vector<std::uint8_t> SealedStore::get(const std::string& key) {
  const std::string sealed = store_->get_to_str(key);
  if (!has_seal(secret_, key, sealed)) {
    throw Error({.what = "the launcher's store contains a value that no rank of this job wrote",
                 .expected = fmt::format("key \"{}\" with a proof of the secret", key),
                 .found = fmt::format("{} bytes without one", sealed.size()),
                 .hint = "Give all ranks the same `dist_secret_file`; if they have it, a stranger "
                         "can reach the launcher's port"});
  }
  return {sealed.begin() + kProofBytes, sealed.end()};
}

std::int64_t SealedStore::add(const std::string& key, std::int64_t value) {
  return store_->add(key, value);
}

bool SealedStore::deleteKey(const std::string& key) { return store_->deleteKey(key); }

bool SealedStore::check(const std::vector<std::string>& keys) {
  if (!store_->check(keys)) return false;
  return std::ranges::all_of(keys, [&](const std::string& key) {
    return has_seal(secret_, key, store_->get_to_str(key));
  });
}

std::int64_t SealedStore::getNumKeys() { return store_->getNumKeys(); }

void SealedStore::setTimeout(const std::chrono::milliseconds& timeout) {
  c10d::Store::setTimeout(timeout);
  store_->setTimeout(timeout);
}

}  // namespace stoker::detail
