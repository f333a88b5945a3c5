#include "stoker/cli/data_flags.h"

#include <charconv>

#include <fmt/format.h>

#include "stoker/cli/setting_flags.h"
#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/data/data_settings.h"

namespace stoker {

void DataFlags::add_to(const Command& command) {
  command.add_option("data,--data", data, data_help()).required();
  command.add_option("--split", split, "part of the dataset").one_of(split_names());
  command.add_option("--aa", policy,
                     "augmentation: a preset (mnist, imagenet-train, …) or a list such as "
                     "\"rotate(-15,15),noise(0.1)\"; see `stoker ops`");
  command.add_option("--seed", seed, "random seed");
  add_settings(command, settings_of(images));
  add_settings(command, settings_of(shards));
  add_settings(command, settings_of(table));
}

std::shared_ptr<const Source> DataFlags::open() const {
  return open_data(
      data, parse_split(split),
      {.images = images, .shards = shards, .table = table, .needs_labels = needs_labels});
}

Policy DataFlags::parse_policy() const { return Policy::parse(policy); }

Cursor parse_cursor(const std::string& text) {
  Cursor cursor;
  const char* end = text.data() + text.size();
  const auto epoch = std::from_chars(text.data(), end, cursor.epoch);
  if (epoch.ec == std::errc{} && epoch.ptr != end && *epoch.ptr == ':') {
    const auto position = std::from_chars(epoch.ptr + 1, end, cursor.position);
    if (position.ec == std::errc{} && position.ptr == end) return cursor;
  }
  throw Error({.what = "cannot read a place in the run",
               .expected = "EPOCH:POSITION, e.g. 1:32000",
               .found = fmt::format("\"{}\"", text)});
}

}  // namespace stoker
