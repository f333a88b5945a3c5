// A feed as a Python object: any thread may call any function, calls that wait release the GIL and
// end early for signals. Python's class stoker.Feed makes a new one where it has to start
// elsewhere.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "batch_export.h"
#include "stoker/pipeline/feed.h"

namespace stoker::python {

class FeedObject {
 public:
  FeedObject(std::shared_ptr<const Source> source, const std::string& policy,
             const FeedOptions& options, ExportOptions exported);
  // Ends the workers. In a forked child, which has none of them, it ends nothing.
  ~FeedObject();
  FeedObject(const FeedObject&) = delete;
  FeedObject& operator=(const FeedObject&) = delete;

  // The next batch as a tuple; None at the end.
  [[nodiscard]] nanobind::object next();
  // Ends the workers.
  void close();

  [[nodiscard]] FeedStats stats();
  [[nodiscard]] std::vector<SampleFault> faults();
  [[nodiscard]] int workers();

 private:
  // Throws Error in a process that was forked since.
  void check_process() const;
  [[nodiscard]] std::optional<Batch> take();
  template <class Function>
  auto with_feed(Function function);

  std::uint64_t process_;
  ExportOptions export_;
  std::mutex mutex_;  // of the feed, whose next() is for one thread; taken without the GIL
  std::unique_ptr<Feed> feed_;  // null once closed
  std::atomic<bool> closing_{false};
  std::vector<SampleFault> last_faults_;
  FeedStats last_stats_;
};

// Ends the workers of all feeds: before the interpreter ends, since workers may need it.
void close_all_feeds();

}  // namespace stoker::python
