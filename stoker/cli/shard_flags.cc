#include "stoker/cli/shard_flags.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

void ShardFlags::add_to(const Command& command) {
  command
      .add_option("--shuffle-window", shards.window,
                  "of data in shards: samples of so many shards are mixed")
      .between(1, 1 << 20);
  command
      .add_option("--shuffle-lanes", shards.lanes,
                  "of data in shards: dealt out to so many lanes; with as many as ranks, or a "
                  "multiple, each rank reads shards of its own")
      .between(1, 1 << 20);
  command.add_option("--cache-dir", cache_folder,
                     "of data behind a URL: where its shards are kept; not given: the user's cache "
                     "folder");
  command
      .add_option(
          "--cache-size",
          [this](const std::string& text) { shards.cache_bytes = parse_bytes(text); },
          "of data behind a URL: most that is kept, e.g. 200GB")
      .default_text("64GiB");
  command
      .add_option("--store-tries", shards.store.retry.tries,
                  "of data behind a URL: how often an object is asked for")
      .between(1, 1000);
  command
      .add_option("--store-timeout", store_timeout,
                  "of data behind a URL: seconds without data after which an answer counts as lost")
      .between(1, 86'400);
}

ShardOptions ShardFlags::options() const {
  ShardOptions options = shards;
  options.store.retry.stall = std::chrono::seconds(store_timeout);
  if (!cache_folder.empty()) options.cache_folder = cache_folder;
  return options;
}

std::uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string_view unit(end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  constexpr std::string_view kLetters = "KMGT";
  if (!unit.empty()) {
    const std::size_t power = kLetters.find(unit.front() == 'k' ? 'K' : unit.front());
    const std::string_view rest = unit.substr(1);
    const auto exponent = static_cast<double>(power + 1);
    if (power != std::string_view::npos && (rest.empty() || rest == "B")) {
      factor = std::pow(1000.0, exponent);
    }
    if (power != std::string_view::npos && rest == "iB") factor = std::pow(1024.0, exponent);
  }
  if (end != text.c_str() && factor > 0 && number >= 0 && number * factor < 0x1p63) {
    return static_cast<std::uint64_t>(number * factor);
  }
  throw Error({.what = "cannot read a number of bytes",
               .expected = "a number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB",
               .found = fmt::format("\"{}\"", text)});
}

}  // namespace stoker
