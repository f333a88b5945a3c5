#include "stoker/data/shards/shard_writer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/abandoned_files.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/permutation.h"
#include "stoker/data/detail/each_in_parallel.h"
#include "stoker/data/detail/image_encode.h"
#include "stoker/data/detail/json_labels.h"
#include "stoker/data/shards/shard_index.h"
#include "stoker/data/shards/shard_manifest.h"
#include "stoker/data/shards/tar.h"
#include "stoker/data/sources/encoded_source.h"
#include "stoker/data/sources/file_sizes.h"
#include "stoker/data/sources/folder_source.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxIndex = std::uint64_t{4} << 30;
constexpr std::uint64_t kTarOverhead = 1536;  // of 512 bytes: two headers, a block for the class
constexpr std::uint64_t kJsonOverhead = kTarOverhead + 1024;  // and a header and a block for .json

// Which samples go into which shard: runs of places of one shuffled order.
struct Plan {
  Permutation order;
  std::vector<std::uint64_t> begins;  // the first place of each shard, and the end
  std::string digest;                 // of everything that determines the shards' bytes
};

// How large each sample's file is, or would be, without reading it.
std::vector<std::uint64_t> estimated_bytes(const Source& source) {
  if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    return file_sizes(folder->listing());
  }
  if (const auto* encoded = dynamic_cast<const EncodedSource*>(&source)) {
    std::vector<std::uint64_t> sizes(source.size());
    for (std::uint64_t i = 0; i < sizes.size(); ++i) sizes[i] = encoded->file_bytes(i);
    return sizes;
  }
  return std::vector<std::uint64_t>(source.size(), source.shape().bytes());
}

std::optional<ImageShape> common_shape(const Source& source) {
  if (dynamic_cast<const FolderSource*>(&source) != nullptr ||
      dynamic_cast<const EncodedSource*>(&source) != nullptr) {
    return std::nullopt;
  }
  return source.shape();
}

Plan make_plan(const Source& source, const ShardWriteOptions& options) {
  Plan plan{.order = Permutation(source.size(), options.seed, 0), .begins = {0}, .digest = {}};
  Digest digest;
  digest.add_text(fmt::format("{} {} {} {}", options.shard_bytes, options.seed, options.max_side,
                              options.quality));
  if (options.jpeg_index) digest.add_text("jpeg-index");
  for (const std::string& name : source.class_names()) digest.add_text(name);
  SampleBuffer buffer;
  const std::vector<std::uint64_t> sizes = estimated_bytes(source);
  for (const FieldInfo& field : source.fields()) {
    digest.add_text(field.name);
    for (const std::string& name : field.values) digest.add_text(name);
  }
  std::vector<float> numbers(number_count(source.fields()));
  std::uint64_t bytes = 0;
  for (std::uint64_t place = 0; place < source.size(); ++place) {
    const std::uint64_t index = plan.order[place];
    const std::uint64_t size = sizes[index] + (numbers.empty() ? kTarOverhead : kJsonOverhead);
    digest.add_text(fmt::format("{}\t{}\t{}", index, size, source.label(index, buffer).value()));
    static_cast<void>(source.read_fields(index, numbers).value());
    digest.add(std::as_bytes(std::span(numbers)));
    if (bytes > 0 && bytes + size > options.shard_bytes) {
      plan.begins.push_back(place);
      bytes = 0;
    }
    bytes += size;
  }
  plan.begins.push_back(source.size());
  plan.digest = digest.hex();
  return plan;
}

// Valid as long as the text.
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string stored_digest(const Store& store, const std::string& name) {
  Digest digest;
  store.read({.name = name}, [&](std::span<const std::byte> bytes) { digest.add(bytes); });
  return digest.hex();
}

class Writer {
 public:
  Writer(const Source& source, const Store& out, const ShardWriteOptions& options)
      : source_(source),
        out_(out),
        options_(options),
        fields_(source.fields().begin(), source.fields().end()),
        plan_(make_plan(source, options)) {}

  ShardWriteReport run() {
    make_folders();
    const std::size_t shards = plan_.begins.size() - 1;
    ShardManifest manifest{.class_names = source_.class_names(),
                           .shape = common_shape(source_),
                           .shards = std::vector<ShardFacts>(shards),
                           .fields = fields_};
    std::atomic<std::uint64_t> kept{0};
    const int threads = options_.threads > 0 ? options_.threads : default_workers(cpu_budget());
    detail::each_in_parallel(shards, threads, [&](std::size_t shard) {
      auto facts = find_kept(shard);
      if (facts) {
        ++kept;
        tell_progress(facts->samples);
      }
      manifest.shards[shard] = facts ? *std::move(facts) : write_shard(shard);
    });
    put(kManifestName, to_text(manifest));
    ShardWriteReport report{.shards = shards, .samples = source_.size(), .kept = kept};
    for (const ShardFacts& shard : manifest.shards) report.bytes += shard.bytes;
    return report;
  }

  ~Writer() {
    std::error_code ignored;
    if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

 private:
  void tell_progress(std::uint64_t samples) const {
    if (options_.progress) options_.progress(samples);
  }

  static std::string shard_name(std::size_t shard) { return fmt::format("shard-{:06}.tar", shard); }

  // A remote object is a file here first.
  [[nodiscard]] fs::path file_for(const std::string& name) const {
    return out_.local_path(name).value_or(scratch_ / name);
  }

  void make_folders() {
    std::error_code error;
    if (const auto path = out_.local_path(kManifestName)) {
      fs::create_directories(path->parent_path(), error);
      remove_abandoned_files(path->parent_path());
    } else {
      remove_abandoned_files(fs::temp_directory_path());
      std::string name =
          (fs::temp_directory_path() / fmt::format("stoker-shards-{}-XXXXXX", ::getpid())).string();
      if (::mkdtemp(name.data()) == nullptr) error.assign(errno, std::generic_category());
      scratch_ = name;
    }
    if (!error) return;
    throw Error({.what = "cannot make a folder for shards",
                 .path = out_.where(),
                 .found = error.message()});
  }

  // To the store, where it is not there already.
  void send(const std::string& name) const {
    if (out_.local_path(name)) return;
    out_.write(name, file_for(name));
    std::error_code ignored;
    fs::remove(file_for(name), ignored);
  }

  void put(const std::string& name, const std::string& text) const {
    write_whole_file(file_for(name), text, "description of shards");
    send(name);
  }

  [[nodiscard]] ShardFacts facts_of(const ShardIndex& index, std::uint64_t bytes,
                                    std::string digest) const {
    const std::string text = to_text(index);
    return {.name = index.shard,
            .samples = index.samples.size(),
            .bytes = bytes,
            .digest = std::move(digest),
            .index_bytes = text.size(),
            .index_digest = digest_of(bytes_of(text))};
  }

  // A shard of an earlier run, if its bytes are still those that the index was written for.
  [[nodiscard]] std::optional<ShardFacts> find_kept(std::size_t shard) const {
    const std::string name = shard_name(shard);
    const auto there = out_.look(name);
    if (!there || !out_.look(index_name(name))) return std::nullopt;
    const std::string path = object_path(out_, index_name(name));
    const ShardIndex index =
        parse_shard_index(read_text(out_, index_name(name), kMaxIndex),
                          {.bytes = there->bytes,
                           .classes = static_cast<std::int32_t>(source_.class_names().size()),
                           .fields = fields_},
                          path);
    if (index.plan.substr(0, index.plan.find(' ')) != plan_.digest) {
      throw Error({.what = "there are shards of other data, another seed or other options already",
                   .path = path,
                   .hint = "Choose another `out`, or remove them."});
    }
    const std::string digest = stored_digest(out_, name);
    // Reading the sources again costs less than encoding and writing them, and a source that was
    // changed in place is seen.
    if (index.plan != plan_text(digest, content_of(shard))) return std::nullopt;
    return facts_of(index, there->bytes, digest);
  }

  ShardFacts write_shard(std::size_t shard) const {
    const std::string name = shard_name(shard);
    ShardIndex index{.shard = name, .samples = {}, .fields = FieldRows(fields_)};
    std::uint64_t bytes = 0;
    Digest content;
    const std::string digest = write_tar(shard, index, content, bytes);
    verify(index, digest);
    send(name);
    if (!out_.local_path(name) && stored_digest(out_, name) != digest) fail_verify(name);
    index.plan = plan_text(digest, content.hex());
    put(index_name(name), to_text(index));
    return facts_of(index, bytes, digest);
  }

  // What an index remembers of its making: the plan, the archive, the content of its sources.
  [[nodiscard]] std::string plan_text(const std::string& archive,
                                      const std::string& content) const {
    return fmt::format("{} {} {}", plan_.digest, archive, content);
  }

  [[nodiscard]] std::string content_of(std::size_t shard) const {
    Digest content;
    SampleBuffer buffer;
    detail::ImageEncoder reader({});
    for (std::uint64_t place = plan_.begins[shard]; place < plan_.begins[shard + 1]; ++place) {
      reader.add_content(source_, plan_.order[place], buffer, content);
    }
    return content.hex();
  }

  // The digest of the archive.
  std::string write_tar(std::size_t shard, ShardIndex& index, Digest& sources,
                        std::uint64_t& bytes) const {
    AtomicFile file(file_for(index.shard), "shard");
    Digest digest;
    const auto write = [&](std::span<const std::byte> piece) {
      file.write(piece);
      digest.add(piece);
      bytes += piece.size();
    };
    const auto add = [&](const std::string& member, std::span<const std::byte> content) {
      write(bytes_of(tar_header(member, content.size())));
      write(content);
      write(bytes_of(tar_padding(content.size())));
    };
    SampleBuffer buffer;
    detail::ImageEncoder encoder({.max_side = options_.max_side,
                                  .quality = options_.quality,
                                  .jpeg_index = options_.jpeg_index,
                                  .limits = options_.limits});
    for (std::uint64_t place = plan_.begins[shard]; place < plan_.begins[shard + 1]; ++place) {
      const std::uint64_t sample = plan_.order[place];
      const auto image = encoder.file_of(source_, sample, buffer, sources);
      const std::string key = fmt::format("{:09}", place);
      const auto label = static_cast<std::int32_t>(source_.label(sample, buffer).value());
      index.samples.push_back({.offset = bytes + 512,
                               .length = static_cast<std::uint32_t>(image.bytes.size()),
                               .label = label,
                               .checksum = digest64(image.bytes),
                               .name = fmt::format("{}.{}", key, image.extension)});
      add(index.samples.back().name, image.bytes);
      if (label >= 0) add(key + ".cls", bytes_of(std::to_string(label)));
      if (!fields_.empty()) add(key + ".json", bytes_of(add_fields(sample, index.fields)));
      tell_progress(1);
    }
    write(bytes_of(tar_end()));
    file.commit();
    return digest.hex();
  }

  // Adds them to the index; the text of the sample's .json.
  [[nodiscard]] std::string add_fields(std::uint64_t sample, FieldRows& rows) const {
    std::vector<float> numbers(number_count(fields_));
    static_cast<void>(source_.read_fields(sample, numbers).value());
    std::string json = detail::json_of(fields_, numbers);
    std::vector<std::uint32_t> classes;
    const bool is_set = fields_.front().name == kClassesField;
    const std::size_t count = is_set ? fields_.front().values.size() : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (numbers[i] != 0) classes.push_back(i);
    }
    rows.add(classes, std::span(numbers).subspan(count));
    return json;
  }

  // Whether the .json that was read back says what the index does.
  [[nodiscard]] bool same_fields(const detail::JsonLabels& found, const FieldRows& rows,
                                 std::size_t row) const {
    if (fields_.empty()) return true;
    std::vector<std::string> names;
    for (const std::uint32_t place : rows.classes(row)) {
      names.push_back(fields_.front().values[place]);
    }
    return found.names == names && std::ranges::equal(found.numbers, rows.numbers(row));
  }

  // What a reader will find, from the disk, not from memory.
  void verify(const ShardIndex& index, const std::string& digest) const {
    const fs::path path = file_for(index.shard);
    const InputFile file(path);
    const TableColumns keys = detail::json_keys(fields_);
    const auto found = scan_shard(ArchiveBytes(file), path.string(), keys);
    // Beside several labels or numbers, a class is not looked for.
    const bool has_class = keys.labels.empty() && keys.targets.empty();
    bool same = ArchiveBytes(file).digest() == digest && found.size() == index.samples.size();
    for (std::size_t i = 0; same && i < found.size(); ++i) {
      IndexedSample sample = found[i].sample;
      sample.label = !has_class                    ? index.samples[i].label
                     : found[i].class_text.empty() ? -1
                                                   : std::atoi(found[i].class_text.c_str());
      same = sample == index.samples[i] && same_fields(found[i].labels, index.fields, i);
    }
    if (!same) fail_verify(index.shard);
  }

  [[noreturn]] void fail_verify(const std::string& name) const {
    throw Error({.what = "a shard that was just written reads back differently",
                 .path = object_path(out_, name),
                 .hint = "The disk or the store is faulty: write to another one."});
  }

  const Source& source_;
  const Store& out_;
  const ShardWriteOptions& options_;
  std::vector<FieldInfo> fields_;
  Plan plan_;
  fs::path scratch_;
};

}  // namespace

ShardWriteReport write_shards(const Source& source, const Store& out,
                              const ShardWriteOptions& options) {
  if (options.shard_bytes == 0) {
    throw Error({.what = "cannot write shards", .expected = "a size of 1 byte or more"});
  }
  return Writer(source, out, options).run();
}

}  // namespace stoker
