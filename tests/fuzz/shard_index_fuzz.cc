// libFuzzer target: any text is no index of a shard, with or without fields, and no manifest, or
// one that keeps its promises and is the same after being written again; and no .json of a sample,
// or one with the numbers that are asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/data/detail/json_labels.h"
#include "stoker/data/shards/shard_index.h"
#include "stoker/data/shards/shard_manifest.h"

namespace {

constexpr stoker::ShardBounds kBounds{.bytes = 1 << 20, .classes = 10};

void require(bool promise) {
  if (!promise) std::abort();
}

void check_index(const std::string& text) {
  try {
    const stoker::ShardIndex index = stoker::parse_shard_index(text, kBounds, "x.tsv");
    std::uint64_t end = 0;
    for (const stoker::IndexedSample& sample : index.samples) {
      require(sample.offset >= end && sample.offset + sample.length <= kBounds.bytes);
      require(sample.label >= 0 && sample.label < kBounds.classes);
      end = sample.offset + sample.length;
    }
    require(parse_shard_index(to_text(index), kBounds, "x.tsv") == index);
  } catch (const stoker::Error&) {
  }
}

void check_fields(const std::string& text) {
  static const std::vector<stoker::FieldInfo> kFields = {
      {std::string(stoker::kClassesField), {"a", "b", "c"}},
      {std::string(stoker::kTargetField), {"x", "y"}}};
  stoker::ShardBounds bounds = kBounds;
  bounds.fields = kFields;
  try {
    const stoker::ShardIndex index = stoker::parse_shard_index(text, bounds, "x.tsv");
    std::vector<float> numbers(5);
    for (std::size_t i = 0; i < index.samples.size(); ++i) index.fields.read(i, numbers);
    require(parse_shard_index(to_text(index), bounds, "x.tsv") == index);
  } catch (const stoker::Error&) {
  }
}

void check_json(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  static_cast<void>(stoker::detail::class_in_json(bytes));
  for (const stoker::TableColumns& keys :
       {stoker::TableColumns{.weight = "w", .labels = {"l"}},
        stoker::TableColumns{.label = "l", .targets = {"x", "y"}}}) {
    auto labels = stoker::detail::labels_in_json(bytes, keys);
    if (labels) require(labels->numbers.size() == (keys.targets.empty() ? 1U : 2U));
  }
}

void check_manifest(const std::string& text) {
  try {
    const stoker::ShardManifest manifest = stoker::parse_manifest(text, "m.tsv");
    std::uint64_t samples = 0;
    for (const stoker::ShardFacts& shard : manifest.shards) {
      require(shard.samples > 0 && shard.name.front() != '/');
      require(("/" + shard.name + "/").find("/../") == std::string::npos);
      samples += shard.samples;
    }
    require(samples > 0 && samples <= std::uint64_t{1} << 48);
    require(stoker::parse_manifest(to_text(manifest), "m.tsv") == manifest);
  } catch (const stoker::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_index(text);
  check_index("#stoker-index\t1\tx.tar\t" + text);
  check_fields("#stoker-index\t2\tx.tar\t" + text);
  check_json(text);
  check_manifest(text);
  stoker::Digest digest;  // past the digest
  digest.add(std::as_bytes(std::span(text)));
  check_manifest(text + "#digest\t" + digest.hex() + "\n");
  return 0;
}
