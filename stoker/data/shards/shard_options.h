/// \file
/// How data in shards is read. A plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stoker/store/store_options.h"

namespace stoker {

/// For open_data() of shards.
struct ShardOptions {
  std::uint32_t window = 16;  ///< how many shards of a lane are mixed
  /// In how many parts shards are dealt out, each read by itself: with as many as there are ranks,
  /// or a multiple, every rank reads other shards.
  std::uint32_t lanes = 1;
  /// Where objects of remote stores and indexes of foreign shards are kept; nothing: the user's
  /// cache folder, and a temporary one where there is none.
  std::optional<std::filesystem::path> cache_folder = {};
  std::uint64_t cache_bytes = std::uint64_t{64} << 30;
  int fetchers = 4;  ///< shards under way at once
  /// Of remote shards from this size on, the first samples are read by themselves while their
  /// shards are under way. Smaller ones are there as soon.
  std::uint64_t single_reads_from = std::uint64_t{4} << 20;
  StoreOptions store = {};
};

}  // namespace stoker
