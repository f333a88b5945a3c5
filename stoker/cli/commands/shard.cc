// `stoker shard`: images become tar shards, which WebDataset reads too.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/long_work.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/shards/shard_writer.h"
#include "stoker/run/data_checks.h"
#include "stoker/store/open_store.h"

namespace stoker {
namespace {

struct WriteFlags {
  std::string data, out, size = "256MB";
  ShardWriteOptions options;
  TableColumns table;

  [[nodiscard]] DataOptions data_options() const {
    return {.images = {.limits = options.limits}, .table = table};
  }
};

void write_part(const WriteFlags& flags, Split split, const std::string& out) {
  const auto source = open_data(flags.data, split, flags.data_options());
  check_class_names(*source, flags.data);
  LongWork work("writing shards", source->size(),
                "run the same command again: finished shards are kept");
  ShardWriteOptions options = flags.options;
  options.progress = [&](std::uint64_t samples) { work.add(samples); };
  const ShardWriteReport report = write_shards(*source, *open_store(out), options);
  work.clear();
  fmt::print("{}: {} samples in {} shards, {:.1f} MB", out, report.samples, report.shards,
             static_cast<double>(report.bytes) / 1e6);
  fmt::print("{}\n", report.kept > 0 ? fmt::format("; {} already existed", report.kept) : "");
}

void run(WriteFlags flags) {
  flags.options.shard_bytes = parse_bytes(flags.size);
  while (flags.out.size() > 1 && flags.out.ends_with('/')) flags.out.pop_back();
  const DataParts parts = find_data_parts(flags.data, flags.data_options());
  if (parts.whole()) return write_part(flags, Split::kTrain, flags.out);
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    if (parts.has(split)) write_part(flags, split, fmt::format("{}/{}", flags.out, name_of(split)));
  }
}

}  // namespace

void add_shard_command(const Command& parent) {
  const Command command =
      parent.add_command("shard", "Write a dataset as tar shards, to a disk or an object store");
  auto flags = std::make_shared<WriteFlags>();
  command.add_option("data", flags->data, data_help()).required();
  command.add_option("--out", flags->out, "a folder, or s3://bucket/prefix").required();
  command.add_option("--shard-size", flags->size, "of one shard, about");
  command.add_option("--seed", flags->options.seed, "the samples are shuffled once by it");
  command
      .add_option("--max-side", flags->options.max_side,
                  "images with a longer side are shrunk to it and written as JPEG; 0: none")
      .between(0, 65'500);
  command
      .add_option("--quality", flags->options.quality,
                  "1 to 100: all images are written as JPEG anew; 0: only those shrunk, at 90")
      .between(0, 100);
  command.add_flag("--jpeg-index", flags->options.jpeg_index,
                   "write JPEGs so that parts of them can be decoded: faster random crops, the "
                   "same pixels");
  command.add_option("-j,--workers", flags->options.threads, "threads; 0: what the job may use")
      .between(0, 4096);
  add_settings(command, settings_of(flags->options.limits));
  add_settings(command, settings_of(flags->table));
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
