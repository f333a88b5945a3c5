#include "stoker/store/aws_credentials.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stoker {
namespace {

using namespace std::chrono_literals;
using Moment = AwsCredentialSource::Moment;

constexpr std::size_t kLongestKey = 16 * 1024;  // session tokens have some hundred bytes

bool can_be_sent(const std::string& text) {
  return text.size() <= kLongestKey &&
         std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter < 0x7F; });
}

}  // namespace

void check_credentials(const AwsCredentials& credentials) {
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    throw Error({.what = "only half of the S3 credentials are set",
                 .expected = "both the access key id and the secret access key"});
  }
  if (can_be_sent(credentials.key_id) && can_be_sent(credentials.secret) &&
      can_be_sent(credentials.session_token)) {
    return;
  }
  throw Error({.what = "cannot use the S3 credentials",
               .expected = "printable ASCII without spaces, at most 16 KB",
               .found = "other characters, or more"});
}

AwsCredentialSource::AwsCredentialSource(AwsCredentials fixed)
    : held_(IssuedCredentials{.keys = std::move(fixed)}),
      ask_at_(Moment::max()),
      usable_until_(Moment::max()) {}

AwsCredentialSource::AwsCredentialSource(std::string key, Issue issue, Clock clock)
    : key_(std::move(key)), issue_(std::move(issue)), clock_(std::move(clock)) {}

AwsCredentials AwsCredentialSource::get(const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  while (true) {
    if (held_ && ask_at_ == Moment::max()) return held_->keys;
    const Moment now = clock_();
    if (held_ && (now < ask_at_ || (asking_ && now < usable_until_))) return held_->keys;
    if (!asking_) return ask(lock, stop);
    const std::uint64_t attempt = attempts_;
    changed_.wait(lock, stop, [&] { return attempts_ != attempt; });
    if (stop.stop_requested()) throw Error({.what = "waiting for S3 credentials was given up"});
    if (failure_) throw Error(*failure_);
  }
}

// One attempt, without the lock.
AwsCredentials AwsCredentialSource::ask(std::unique_lock<std::mutex>& lock,
                                        const std::stop_token& stop) const {
  asking_ = true;
  failure_.reset();
  lock.unlock();
  std::optional<IssuedCredentials> issued;
  std::optional<ErrorDetails> failure;
  try {
    issued = issue_(stop);
  } catch (const std::exception& error) {
    failure = details_of(error);
  }
  lock.lock();
  const Moment now = clock_();
  if (issued && issued->expires && *issued->expires <= now) {
    failure = ErrorDetails{.what = "cannot get credentials for S3",
                           .found = "credentials that have expired",
                           .hint = "Check the clock of this machine."};
  }
  asking_ = false;
  ++attempts_;
  changed_.notify_all();
  if (!failure) {
    accept(*issued);
    return held_->keys;
  }
  if (held_ && held_->expires && now < *held_->expires) {
    ask_at_ = now + std::min<Moment::duration>(30s, (*held_->expires - now) / 3);
    return held_->keys;
  }
  // Others that wait have not been stopped: one of them asks.
  if (!stop.stop_requested()) failure_ = failure;
  throw Error(*failure);
}

// A quarter of an hour before they expire, or after two thirds of a shorter life: an issuer that
// returns the same keys again is then asked at most a few dozen times.
void AwsCredentialSource::accept(const IssuedCredentials& issued) const {
  held_ = issued;
  ask_at_ = usable_until_ = Moment::max();
  if (!issued.expires) return;
  const Moment::duration life = *issued.expires - clock_();
  ask_at_ = *issued.expires - std::min<Moment::duration>(15min, life / 3);
  usable_until_ = *issued.expires - std::min<Moment::duration>(1min, life / 6);
}

std::shared_ptr<const AwsCredentialSource> shared_credentials(
    std::shared_ptr<const AwsCredentialSource> source) {
  // Never destroyed: a thread may still read when the process ends.
  static auto& mutex = *new std::mutex;
  static auto& sources = *new std::map<std::string, std::shared_ptr<const AwsCredentialSource>>;
  if (source == nullptr || source->key().empty()) return source;
  const std::scoped_lock lock(mutex);
  return sources.try_emplace(source->key(), source).first->second;
}

}  // namespace stoker
