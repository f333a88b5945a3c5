// Whom a connection with TLS trusts.
#pragma once

#include <functional>
#include <string>

namespace stoker {

// A file of certificates for libcurl: AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE, as other
// programs have it. Without them the first that exists of libcurl's own file and those of other
// distributions: a package with Debian's libcurl in it also runs elsewhere. Empty: libcurl's own.
[[nodiscard]] std::string certificate_file(const std::function<const char*(const char*)>& variable,
                                           const std::function<bool(const std::string&)>& exists,
                                           const std::string& own);

// The same for this process; looked for once.
[[nodiscard]] const std::string& certificate_file();

}  // namespace stoker
