// HttpStore: objects behind an HTTP(S) prefix, or in a bucket of S3 or a server like it. What was
// cut off is gone on with by a range request, as long as the object is the same; 408, 429, 5xx and
// whatever a network does are tried again (retry.h).
//
// A redirect to another host is followed only by requests that carry no credentials, and never from
// https to http.
#pragma once

#include <optional>
#include <string>

#include "stoker/store/aws.h"
#include "stoker/store/http_client.h"
#include "stoker/store/store.h"
#include "stoker/store/url.h"

namespace stoker {

class HttpStore final : public Store {
 public:
  // http://host/prefix, https://…
  HttpStore(const std::string& prefix, const RetryOptions& retry);
  // s3://bucket/prefix
  HttpStore(const std::string& prefix, AwsSettings settings, const RetryOptions& retry);

  [[nodiscard]] std::string where() const override { return where_; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override;
  void read(const ReadRequest& request, const ByteSink& sink) const override;
  void write(const std::string& name, const std::filesystem::path& file) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

 private:
  // An exchange with what comes with it: where, signed by whom, redirected how often.
  struct Call {
    std::string method = "GET";
    std::string path;  // on the server, encoded
    std::string query = {};
    std::vector<std::string> headers = {};
    std::string payload_hash = {};  // of a PUT
    std::filesystem::path body = {};
    std::stop_token stop = {};
  };
  HttpReply perform(const Call& call, const HttpClient::OnHead& on_head,
                    const ByteSink& sink) const;
  [[nodiscard]] std::string path_of(const std::string& name) const;
  // Throws AttemptFailed unless the status is a good one.
  static void check_status(const HttpReply& reply);

  struct Reading;  // what one read() has done so far
  void read_more(const ReadRequest& request, Reading& reading, const ByteSink& sink) const;

  std::string where_;
  Url server_;          // scheme and host; the path is the prefix on it, encoded
  std::string bucket_;  // of S3
  std::string prefix_;  // of S3: of the names, not encoded
  bool s3_ = false;
  AwsSettings aws_;
  RetryOptions retry_;
  HttpClient client_;
};

}  // namespace stoker
