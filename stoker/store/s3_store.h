// S3Store: objects below a prefix of a bucket, of Amazon's S3 or a server that speaks its protocol.
// Requests are signed where there are credentials, which are issued
// again before they expire. Reads resume and failed attempts are repeated as
// detail/http_transfer.h describes.
//
// A redirect to another host is not followed: it would decide who gets a signed request.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/store/aws.h"
#include "stoker/store/retry.h"
#include "stoker/store/store.h"

namespace stoker {

namespace detail {
class HttpTransfer;
}  // namespace detail

class S3Store final : public Store {
 public:
  // s3://bucket/prefix
  S3Store(const std::string& prefix, const AwsSettings& settings, const RetryOptions& retry);
  ~S3Store() override;

  [[nodiscard]] std::string where() const override { return where_; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override;
  void read(const ReadRequest& request, const ByteSink& sink) const override;
  void write(const std::string& name, const std::filesystem::path& file) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  // One page of the listing, as XML.
  [[nodiscard]] std::string list_page(const std::string& query) const;

  std::string where_;
  std::string root_;    // of the bucket on the server, encoded
  std::string prefix_;  // of the names, not encoded
  RetryOptions retry_;
  std::unique_ptr<const detail::HttpTransfer> transfer_;
};

}  // namespace stoker
