// libFuzzer target: any bytes are refused as a tar archive, or have members that lie inside it,
// with names that stay in their folder; and as a shard they are refused or make a whole index.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>

#include "stoker/core/error.h"
#include "stoker/data/shards/shard_index.h"
#include "stoker/data/shards/tar.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

// Sums that fit, where the fuzzer left room for one: it would never find them.
std::string with_checksums(std::string archive) {
  for (std::size_t at = 0; at + 512 <= archive.size(); at += 512) {
    if (archive[at + 148] != '!') continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < 512; ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(archive[at + i]);
    }
    for (int digit = 5; digit >= 0; --digit, sum /= 8) {
      archive[at + 148 + static_cast<std::size_t>(digit)] = static_cast<char>('0' + sum % 8);
    }
    archive[at + 154] = '\0';
    archive[at + 155] = ' ';
  }
  return archive;
}

void check(const std::string& archive) {
  const auto bytes = std::as_bytes(std::span(archive));
  try {
    stoker::TarReader reader(bytes, "x.tar");
    std::uint64_t end = 0;
    while (const auto member = reader.next()) {
      require(member->offset >= end && member->size <= archive.size() - member->offset);
      require(!member->name.empty() && member->name.front() != '/');
      require(("/" + member->name + "/").find("/../") == std::string::npos);
      end = member->offset + member->size;
    }
  } catch (const stoker::Error&) {
    return;
  }
  try {
    stoker::ShardIndex index{.shard = "x.tar"};
    for (const auto& scanned : stoker::scan_shard(bytes, "x.tar")) {
      index.samples.push_back(scanned.sample);
    }
    require(stoker::parse_shard_index(to_text(index), {.bytes = archive.size()}, "x.tsv") == index);
  } catch (const stoker::Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string archive(reinterpret_cast<const char*>(data), size);
  check(archive);
  check(with_checksums(archive));
  return 0;
}
