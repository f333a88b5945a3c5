#include "stoker/store/certificates.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string chosen(const std::map<std::string, std::string>& environment,
                   const std::set<std::string>& files, const std::string& own) {
  return certificate_file(
      [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      [&](const std::string& path) { return files.contains(path); }, own);
}

constexpr const char* kDebian = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* kFedora = "/etc/pki/tls/certs/ca-bundle.crt";

TEST(Certificates, TheEnvironmentComesFirst) {
  EXPECT_EQ(chosen({{"SSL_CERT_FILE", "/a"}}, {kDebian}, kDebian), "/a");
  EXPECT_EQ(chosen({{"SSL_CERT_FILE", "/a"}, {"CURL_CA_BUNDLE", "/b"}}, {}, kDebian), "/b");
  EXPECT_EQ(chosen({{"AWS_CA_BUNDLE", "/c"}, {"CURL_CA_BUNDLE", "/b"}}, {}, kDebian), "/c");
  EXPECT_EQ(chosen({{"SSL_CERT_FILE", ""}}, {kDebian}, kDebian), "");
}

TEST(Certificates, LibcurlsOwnFileIsLeftToIt) {
  EXPECT_EQ(chosen({}, {kDebian, kFedora}, kDebian), "");
}

TEST(Certificates, OtherDistributionsHaveThemElsewhere) {
  EXPECT_EQ(chosen({}, {kFedora}, kDebian), kFedora);
  EXPECT_EQ(chosen({}, {}, kDebian), "");
}

}  // namespace
}  // namespace stoker
