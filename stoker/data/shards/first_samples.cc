#include "stoker/data/shards/first_samples.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

#include "stoker/core/digest.h"

namespace stoker {
namespace {

// They wait for answers: with a round trip of 50 ms they read 300 samples a second.
constexpr std::size_t kReaders = 16;
constexpr std::uint64_t kPartOfShards = 8;

// In a block, its thread does not hold the lock.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace

FirstSamples::FirstSamples(std::shared_ptr<const ShardSet> set,
                           std::shared_ptr<const ShardLayout> layout, const ShardOptions& options)
    : set_(std::move(set)),
      layout_(std::move(layout)),
      smallest_shard_(options.single_reads_from),
      patience_(std::min(options.store.retry.stall, kPatience)) {}

FirstSamples::~FirstSamples() {
  stop();
  threads_.clear();  // joins
}

void FirstSamples::begin(std::span<const std::uint64_t> samples) {
  const std::scoped_lock lock(mutex_);
  if (begun_) return;
  begun_ = progress_ = Clock::now();
  choose_samples(samples.first(std::min(samples.size(), kMost)));
  for (std::size_t i = 0; i < std::min(kReaders, samples_.size()); ++i) {
    threads_.emplace_back([this] {
      pthread_setname_np(pthread_self(), "first samples");
      run();
    });
  }
  active_ = !threads_.empty();
}

void FirstSamples::choose_samples(std::span<const std::uint64_t> samples) {
  std::unordered_map<std::uint32_t, bool> is_far;  // of their shards
  std::uint64_t bytes = 0;
  for (const std::uint64_t sample : samples) {
    const ShardLayout::Place place = layout_->place_of(sample);
    const auto [shard, is_new] = is_far.try_emplace(place.shard, false);
    const std::uint64_t size = set_->manifest().shards.at(place.shard).bytes;
    if (is_new && size >= smallest_shard_ && !set_->is_here(place.shard)) {
      shard->second = true;
      bytes += size;
    }
    if (shard->second) samples_.push_back({.sample = sample, .place = place});
  }
  bytes_left_ = std::min(kMostBytes, bytes / kPartOfShards);
}

std::optional<FirstSamples::Read> FirstSamples::take(std::uint64_t sample,
                                                     std::chrono::nanoseconds& waited) {
  if (!active_) return std::nullopt;
  Lock lock(mutex_);
  const auto one = std::ranges::find_if(samples_, [&](const Wanted& wanted) {
    return wanted.sample == sample && wanted.state != State::kGone;
  });
  if (one == samples_.end()) return std::nullopt;
  if (is_due(*one)) {
    const auto start = Clock::now();
    while (is_due(*one)) {
      changed_.wait_until(lock, progress_ + patience_);
      if (Clock::now() >= progress_ + patience_) give_up();
    }
    waited += Clock::now() - start;
  }
  if (one->state == State::kGone) return std::nullopt;  // or another reader has it
  Read read = std::move(one->read);
  one->state = State::kGone;
  note_change();
  return read;
}

std::shared_ptr<const ShardIndex> FirstSamples::index_of(std::uint32_t shard) const {
  if (!active_) return nullptr;
  const std::scoped_lock lock(mutex_);
  const auto found = indexes_.find(shard);
  return found == indexes_.end() ? nullptr : found->second;
}

void FirstSamples::let_pass(const std::stop_token& stop) {
  if (!active_) return;
  Lock lock(mutex_);
  changed_.wait_until(lock, stop, *begun_ + kHeadStart,
                      [this] { return std::ranges::none_of(samples_, is_due); });
}

void FirstSamples::drop(std::uint32_t shard) {
  if (!active_) return;
  const std::scoped_lock lock(mutex_);
  drop_shard(shard);
  note_change();
}

void FirstSamples::drop_shard(std::uint32_t shard) {
  for (Wanted& one : samples_) {
    if (one.place.shard == shard) one = {.place = one.place, .state = State::kGone};
  }
  indexes_.erase(shard);
}

// The store is silent: readers wait for shards, as without all this.
void FirstSamples::give_up() {
  stop();
  for (Wanted& one : samples_) {
    if (is_due(one)) one.state = State::kGone;
  }
  note_change();
}

void FirstSamples::note_change() {
  active_ = !indexes_.empty() || std::ranges::any_of(samples_, [](const Wanted& one) {
    return one.state != State::kGone;
  });
  changed_.notify_all();
}

void FirstSamples::run() {
  Lock lock(mutex_);
  while (true) {
    std::optional<Wanted*> one;
    changed_.wait(lock, stop_.get_token(), [&] { return (one = next()).has_value(); });
    if (stop_.stop_requested() || *one == nullptr) return;
    const std::uint32_t shard = (*one)->place.shard;
    try {
      if (indexes_.contains(shard)) {
        read_sample(lock, **one);
      } else {
        bring_index(lock, shard);
      }
      progress_ = Clock::now();
    } catch (...) {  // whoever opens the shard will be told
      drop_shard(shard);
    }
    note_change();
  }
}

// The next one that can be read, or whose index nobody has asked for. Null: all have had their
// turn. Nothing: the others wait for indexes.
std::optional<FirstSamples::Wanted*> FirstSamples::next() {
  bool is_one_left = false;
  for (Wanted& one : samples_) {
    if (one.state != State::kWanted) continue;
    is_one_left = true;
    const auto index = indexes_.find(one.place.shard);
    if (index == indexes_.end() || index->second != nullptr) return &one;
  }
  if (is_one_left) return std::nullopt;
  return nullptr;
}

void FirstSamples::bring_index(Lock& lock, std::uint32_t shard) {
  indexes_.emplace(shard, nullptr);
  std::shared_ptr<const ShardIndex> index;
  {
    const Unlocked meanwhile(lock);
    index = std::make_shared<ShardIndex>(set_->index(shard, stop_.get_token()));
  }
  if (index->samples.size() != layout_->samples_of(shard)) return drop_shard(shard);
  // Unless the shard was faster.
  if (const auto place = indexes_.find(shard); place != indexes_.end()) place->second = index;
}

void FirstSamples::read_sample(Lock& lock, Wanted& one) {
  const auto index = indexes_.at(one.place.shard);
  const IndexedSample& facts = index->samples.at(one.place.sample);
  one.state = State::kGone;
  if (facts.length > bytes_left_) return;
  bytes_left_ -= facts.length;
  one.state = State::kUnderWay;
  std::vector<std::byte> bytes;
  {
    const Unlocked meanwhile(lock);
    bytes = set_->read_range(one.place.shard, facts.offset, facts.length, stop_.get_token());
    if (digest64(bytes) != facts.checksum) bytes.clear();
  }
  if (one.state != State::kUnderWay) return;  // the shard was faster
  one.state = bytes.empty() ? State::kGone : State::kThere;
  one.read = {.bytes = std::move(bytes), .label = facts.label};
}

}  // namespace stoker
