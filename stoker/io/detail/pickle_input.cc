#include "stoker/io/detail/pickle_input.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stoker/io/detail/text.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 28;  // places in it fit into 32 bits
constexpr std::size_t kMaxLineBytes = 200;

}  // namespace

PickleInput::PickleInput(std::span<const std::byte> bytes, const std::string& file,
                         std::uint64_t offset)
    : bytes_(bytes.first(std::min(bytes.size(), kMaxBytes))),
      file_(file),
      offset_(offset),
      clipped_(bytes_.size() < bytes.size()) {}

Op PickleInput::take_opcode() {
  opcode_at_ = at_;
  return static_cast<Op>(take_unsigned(1));
}

std::span<const std::byte> PickleInput::take(std::size_t count) {
  const std::size_t left = bytes_.size() - at_;
  if (count > left) {
    opcode_at_ = bytes_.size();
    if (clipped_) fail(fmt::format("a pickle of at most {} bytes", kMaxBytes), "a longer one");
    fail(fmt::format("{} more bytes of the pickle", count), fmt::format("the end after {}", left),
         kCutShort);
  }
  const auto taken = bytes_.subspan(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t PickleInput::take_unsigned(std::size_t count) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const std::byte byte : take(count)) {
    value |= std::to_integer<std::uint64_t>(byte) << shift;
    shift += 8;
  }
  return value;
}

std::string_view PickleInput::take_line() {
  const auto rest = bytes_.subspan(at_, std::min(bytes_.size() - at_, kMaxLineBytes));
  const auto end = std::ranges::find(rest, std::byte{'\n'});
  if (end == rest.end() && rest.size() == kMaxLineBytes) {
    fail(fmt::format("a name of less than {} bytes", kMaxLineBytes), "a longer one");
  }
  // Where the bytes end before the line does this is one more than there are, and take() says so.
  const auto line = take(static_cast<std::size_t>(end - rest.begin()) + 1);
  return {reinterpret_cast<const char*>(line.data()), line.size() - 1};
}

void PickleInput::fail(std::string expected, std::string found, std::string_view hint) const {
  fail_torch(file_, offset_ + opcode_at_, std::move(expected), std::move(found), hint);
}

void PickleInput::refuse(const std::string& name) const {
  fail("tensors, numbers, text, tuples, lists and dicts only", "refused: " + name,
       kSaveWeightsAlone);
}

std::string shown_name(std::string_view module, std::string_view name) {
  const std::string quoted = printable(fmt::format("{}.{}", module, name));
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace stoker::detail
