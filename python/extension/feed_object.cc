#include "feed_object.h"

#include <chrono>
#include <set>
#include <utility>

#include "interpreter.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// How long a signal may have to wait for its handler.
constexpr std::chrono::milliseconds kSlice{50};

// All that live. Never destroyed: objects may end after static ones.
struct Registry {
  std::mutex mutex;
  std::set<FeedObject*> feeds;
};
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

Error closed_error() {
  return Error({.what = "the feed is closed", .hint = "Make a new one, or iterate again"});
}

}  // namespace

FeedObject::FeedObject(std::shared_ptr<const Source> source, const std::string& policy,
                       const FeedOptions& options, ExportOptions exported)
    : process_(process_generation()), export_(std::move(exported)) {
  const nb::gil_scoped_release released;  // a source of Python's is asked for its first sample
  feed_ = std::make_unique<Feed>(std::move(source), Policy::parse(policy), options);
  const std::lock_guard lock(registry().mutex);
  registry().feeds.insert(this);
}

FeedObject::~FeedObject() {
  if (process_ != process_generation()) {
    static_cast<void>(feed_.release());
    return;
  }
  {
    const std::lock_guard lock(registry().mutex);
    registry().feeds.erase(this);
  }
  close();
}

void FeedObject::check_process() const {
  if (process_ == process_generation()) return;
  throw Error({.what = "this feed belongs to the process that this one was forked from",
               .expected = "a feed that was made in this process",
               .hint = "Make the feed in the child process, or start it with \"spawn\""});
}

// Without the GIL, also where a batch is ready: a sample that cannot be made ends the workers, who
// may be waiting for it.
std::optional<Batch> FeedObject::take() {
  while (true) {
    {
      const nb::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      if (!feed_ || closing_) throw closed_error();
      if (feed_->wait_for(kSlice)) return feed_->next();
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

nb::object FeedObject::next() {
  check_process();
  std::optional<Batch> batch = take();
  if (!batch) return nb::none();
  return export_batch(*std::move(batch), export_);
}

void FeedObject::close() {
  if (process_ != process_generation()) return;
  closing_ = true;
  const nb::gil_scoped_release released;  // workers may be waiting for it
  const std::lock_guard lock(mutex_);
  if (!feed_) return;
  last_faults_ = feed_->faults();
  last_stats_ = feed_->stats();
  feed_.reset();
}

template <class Function>
auto FeedObject::with_feed(Function function) {
  check_process();
  const nb::gil_scoped_release released;
  const std::lock_guard lock(mutex_);
  return function(feed_.get());
}

FeedStats FeedObject::stats() {
  return with_feed([this](Feed* feed) { return feed != nullptr ? feed->stats() : last_stats_; });
}

std::vector<SampleFault> FeedObject::faults() {
  return with_feed([this](Feed* feed) { return feed != nullptr ? feed->faults() : last_faults_; });
}

int FeedObject::workers() {
  return with_feed([](Feed* feed) { return feed != nullptr ? feed->workers() : 0; });
}

void close_all_feeds() {
  std::set<FeedObject*> feeds;
  {
    const std::lock_guard lock(registry().mutex);
    feeds = registry().feeds;
  }
  for (FeedObject* feed : feeds) feed->close();
}

}  // namespace stoker::python
