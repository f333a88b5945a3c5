// HttpStore: objects behind an HTTP(S) prefix; they can be read, not written or listed. Reads
// resume and failed attempts are repeated as detail/http_transfer.h describes.
//
// Requests carry no credentials but the query of an address that is signed. A redirect to another
// host is followed only on request and without such a query; from https to http never. Otherwise a
// server could make this machine ask hosts that only this machine reaches.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/store/retry.h"
#include "stoker/store/store.h"

namespace stoker {

namespace detail {
class HttpTransfer;
}  // namespace detail

struct HttpAccess {
  std::string query = {};         // added to each request and never shown
  bool follow_redirects = false;  // to other hosts
};

class HttpStore final : public Store {
 public:
  // http://host/prefix, https://…
  HttpStore(const std::string& prefix, const RetryOptions& retry, const HttpAccess& access = {});
  ~HttpStore() override;

  [[nodiscard]] std::string where() const override { return where_; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override;
  void read(const ReadRequest& request, const ByteSink& sink) const override;
  // Both throw Error: plain HTTP has no such requests.
  void write(const std::string& name, const std::filesystem::path& file) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;

  std::string where_;
  std::string root_;  // the prefix's path on the server, encoded
  std::unique_ptr<const detail::HttpTransfer> transfer_;
};

}  // namespace stoker
