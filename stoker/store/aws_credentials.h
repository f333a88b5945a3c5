// AwsCredentialSource: the keys that requests to S3 are signed with. They are either fixed or
// issued for a limited time; then they are issued again before they expire. Any thread may call
// get(): one asks the issuer, the others use the keys that are still valid, or wait for it.
//
// Nothing of the keys is ever part of a message.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "stoker/core/error.h"

namespace stoker {

struct AwsCredentials {
  std::string key_id, secret, session_token;  // the last may be empty
};

// Throws Error where one of them could not be a header's value: empty, too long, or with control
// characters, with which an issuer could add headers of its own.
void check_credentials(const AwsCredentials& credentials);

struct IssuedCredentials {
  AwsCredentials keys;
  std::optional<std::chrono::system_clock::time_point> expires = {};  // nothing: never
};

class AwsCredentialSource {
 public:
  using Moment = std::chrono::system_clock::time_point;
  // Throws Error. Called by one thread at a time.
  using Issue = std::function<IssuedCredentials(const std::stop_token&)>;
  using Clock = std::function<Moment()>;

  explicit AwsCredentialSource(AwsCredentials fixed);
  // `key` is the same for sources that issue the same keys; it holds no secret.
  AwsCredentialSource(std::string key, Issue issue, Clock clock = std::chrono::system_clock::now);

  // Throws Error where there are no valid keys and none can be had. As long as keys are valid, an
  // issuer that fails is asked again later.
  [[nodiscard]] AwsCredentials get(const std::stop_token& stop = {}) const;
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  [[nodiscard]] AwsCredentials ask(std::unique_lock<std::mutex>& lock,
                                   const std::stop_token& stop) const;
  void accept(const IssuedCredentials& issued) const;

  std::string key_;
  Issue issue_;
  Clock clock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::optional<IssuedCredentials> held_;
  mutable Moment ask_at_, usable_until_;  // of what is held
  mutable bool asking_ = false;
  mutable std::uint64_t attempts_ = 0;
  mutable std::optional<ErrorDetails> failure_;  // of the last attempt
};

// The source of this process with the same key, so that its stores ask the issuer once; `source`
// itself where there is none yet or its keys are fixed.
[[nodiscard]] std::shared_ptr<const AwsCredentialSource> shared_credentials(
    std::shared_ptr<const AwsCredentialSource> source);

}  // namespace stoker
