// Shards in a store that is not on this machine and answers when the test says so: whole shards and
// ranges of them are held back, counted and falsified apart from each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/data/catalog.h"
#include "stoker/data/shards/shard_set.h"
#include "stoker/data/shards/shard_source.h"
#include "stoker/data/shards/shard_writer.h"
#include "stoker/data/test_images.h"
#include "stoker/store/local_store.h"

namespace stoker::test {

class GatedStore final : public Store {
 public:
  explicit GatedStore(const std::filesystem::path& folder) : near_(folder) {}

  // What requests of one kind meet. Counts those that began, and the bytes of those that ended.
  struct Way {
    std::atomic<bool> open{true}, broken{false};
    std::atomic<int> begun{0}, ended{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  mutable Way whole, ranges, indexes;
  std::atomic<bool> lies{false};  // of ranges

  void let_through(Way& way) {
    const std::scoped_lock lock(mutex_);
    way.open = true;
    changed_.notify_all();
  }

  [[nodiscard]] std::string where() const override { return "gated://"; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override {
    return near_.look(name);
  }
  void read(const ReadRequest& request, const ByteSink& sink) const override {
    const bool is_index = !request.name.ends_with(".tar");
    const bool is_whole = request.begin == 0;  // samples come after a header
    Way& way = is_index ? indexes : is_whole ? whole : ranges;
    ++way.begun;
    wait(way, request.stop);
    if (way.broken) throw Error({.what = "the store is broken", .path = request.name});
    near_.read(request, [&](std::span<const std::byte> bytes) {
      std::vector<std::byte> copy(bytes.begin(), bytes.end());
      if (lies && &way == &ranges) copy.back() ^= std::byte{1};
      sink(copy);
      way.bytes += copy.size();
    });
    ++way.ended;
  }
  void write(const std::string&, const std::filesystem::path&) const override {}
  [[nodiscard]] std::vector<std::string> list() const override { return near_.list(); }

 private:
  void wait(const Way& way, const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return way.open.load(); });
    if (stop.stop_requested()) throw Error({.what = "given up"});
  }

  LocalStore near_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
};

// Two classes of 48 images of one shape, in six shards or so.
class GatedShards {
 public:
  GatedShards() {
    for (int i = 0; i < 96; ++i) {
      folder_.write(fmt::format("data/{}/{:02}.png", i % 2 == 0 ? "cat" : "dog", i),
                    png_of(scene(static_cast<std::uint64_t>(i), 32, 24)));
    }
    const auto images = open_data((folder_.path() / "data").string(), Split::kTrain, {});
    static_cast<void>(write_shards(*images, LocalStore(shards()), {.shard_bytes = 60'000}));
    store = std::make_shared<GatedStore>(shards());
    options.cache_folder = folder_.path() / "cache";
    options.single_reads_from = 1;
  }
  [[nodiscard]] std::filesystem::path shards() const { return folder_.path() / "shards"; }
  // From this machine.
  [[nodiscard]] std::shared_ptr<const Source> near() const {
    return open_data(shards().string(), Split::kTrain, {.shards = options});
  }
  // From the store.
  [[nodiscard]] std::shared_ptr<const ShardSource> far() const {
    const std::string text = read_text(LocalStore(shards()), kManifestName, 1 << 20);
    auto cache = std::make_shared<ObjectCache>(*options.cache_folder, 1 << 30);
    auto set = std::make_shared<ShardSet>(parse_manifest(text, "manifest"), store, store, cache);
    return std::make_shared<ShardSource>(std::move(set), FolderOptions{}, options);
  }

  std::shared_ptr<GatedStore> store;
  ShardOptions options;

 private:
  TempFolder folder_;
};

}  // namespace stoker::test
