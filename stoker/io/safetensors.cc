#include "stoker/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/io/detail/safetensors_header.h"
#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

using detail::HeaderEntry;
using detail::kLengthBytes;
using detail::printable;

static_assert(std::endian::native == std::endian::little,
              "values are used as they lie in the file");

struct DTypeInfo {
  std::string_view name;
  std::size_t bytes;
};
// In the order of DType.
constexpr std::array<DTypeInfo, 10> kDTypes{{{"BOOL", 1},
                                             {"U8", 1},
                                             {"I8", 1},
                                             {"I16", 2},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I32", 4},
                                             {"F32", 4},
                                             {"F64", 8},
                                             {"I64", 8}}};

constexpr const char* kFetchAgain =
    "The file is cut short, perhaps by a broken download: fetch it again.";
constexpr const char* kDamaged = "The header does not fit the values: fetch the file again.";

// ---- Reading.

[[noreturn]] void fail_read(const std::string& file, std::uint64_t offset, std::string expected,
                            std::string found, std::string hint) {
  throw Error({.what = "cannot read safetensors file",
               .path = file,
               .offset = offset,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

std::uint64_t little_endian_u64(std::span<const std::byte, kLengthBytes> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

// The header's text, known to lie inside the file.
std::string_view header_text(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) {
    fail_read(file, bytes.size(), "the header's length in 8 bytes",
              fmt::format("the end of the file after {}", bytes.size()), kFetchAgain);
  }
  const std::uint64_t length = little_endian_u64(bytes.first<kLengthBytes>());
  if (length < 2 || length > detail::kMaxHeaderBytes) {
    fail_read(file, 0, fmt::format("a header of 2 to {} bytes", detail::kMaxHeaderBytes),
              fmt::format("{}", length), "Is this a safetensors file?");
  }
  if (length > bytes.size() - kLengthBytes) {
    fail_read(file, bytes.size(), fmt::format("a header of {} bytes", length),
              fmt::format("the end of the file after {}", bytes.size() - kLengthBytes),
              kFetchAgain);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  if (text.front() != '{') {
    fail_read(file, kLengthBytes, "a header that begins with {", printable(text.substr(0, 1)),
              "Is this a safetensors file?");
  }
  // JSON has no such byte anywhere, and the JSON library takes it for the end of the text.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    fail_read(file, kLengthBytes + zero, "JSON", "a zero byte", kDamaged);
  }
  return text;
}

// Places of items, by name. Sorted and not hashed: names made to collide cannot make it slow.
template <class Named>
std::vector<std::size_t> sorted_by_name(const std::vector<Named>& items) {
  std::vector<std::size_t> places(items.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    return std::tie(items[a].name, a) < std::tie(items[b].name, b);
  });
  return places;
}

void check_names(const std::vector<HeaderEntry>& entries, const std::string& file) {
  const auto places = sorted_by_name(entries);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const HeaderEntry& second = entries[places[i]];
    if (second.name != entries[places[i - 1]].name) continue;
    fail_read(file, second.offset, "each key once",
              fmt::format("tensor {} a second time", printable(second.name)),
              "Write the file again with a name for each tensor.");
  }
}

void check_entry(const HeaderEntry& entry, std::uint64_t buffer_bytes, const std::string& file) {
  const auto found = fmt::format("data_offsets {} to {}", entry.begin, entry.end);
  if (entry.begin > entry.end || entry.end > buffer_bytes) {
    fail_read(file, entry.offset,
              fmt::format("the values of tensor {} inside the {} bytes after the header",
                          printable(entry.name), buffer_bytes),
              found, entry.begin > entry.end ? kDamaged : kFetchAgain);
  }
  const auto bytes = tensor_bytes(entry.dtype, entry.shape);
  if (bytes == entry.end - entry.begin) return;
  fail_read(file, entry.offset,
            fmt::format("{} bytes for tensor {} of {} and shape [{}]",
                        bytes ? fmt::format("{}", *bytes) : "less than 2^63", printable(entry.name),
                        dtype_name(entry.dtype), fmt::join(entry.shape, ", ")),
            found, kDamaged);
}

// Every byte of the buffer belongs to exactly one tensor. `entries` in the order of their values.
void check_cover(const std::vector<HeaderEntry>& entries, std::uint64_t header_end,
                 std::uint64_t buffer_bytes, const std::string& file) {
  std::uint64_t covered = 0;
  for (const HeaderEntry& entry : entries) {
    if (entry.begin != covered) {
      fail_read(file, entry.offset,
                fmt::format("the values of tensor {} at data_offsets {}, where those before end",
                            printable(entry.name), covered),
                fmt::format("{}, which {}", entry.begin,
                            entry.begin < covered ? "overlaps them" : "leaves a hole"),
                kDamaged);
    }
    covered = entry.end;
  }
  if (covered == buffer_bytes) return;
  fail_read(file, header_end + covered, "the end of the file after the last tensor",
            fmt::format("{} more bytes", buffer_bytes - covered),
            "Bytes follow the last value: is this really one safetensors file?");
}

// ---- Writing.

[[noreturn]] void fail_write(const std::string& file, std::string expected, std::string found,
                             std::string hint, std::vector<ErrorDetails> causes = {}) {
  throw Error({.what = "cannot write safetensors file",
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint),
               .causes = std::move(causes)});
}

void check_tensor(const TensorView& tensor, const std::string& file) {
  if (tensor.name.empty() || tensor.name == detail::kMetadataKey) {
    fail_write(file, "tensors with names, other than __metadata__", printable(tensor.name),
               "Name the tensor.");
  }
  if (tensor.shape.size() > detail::kMaxDimensions) {
    fail_write(file, fmt::format("at most {} dimensions", detail::kMaxDimensions),
               fmt::format("{} in tensor {}", tensor.shape.size(), printable(tensor.name)),
               "Reshape the tensor.");
  }
  const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
  if (bytes == tensor.bytes.size()) return;
  fail_write(
      file,
      fmt::format("{} bytes for tensor {} of {} and shape [{}]",
                  bytes ? fmt::format("{}", *bytes) : "less than 2^63", printable(tensor.name),
                  dtype_name(tensor.dtype), fmt::join(tensor.shape, ", ")),
      fmt::format("{}", tensor.bytes.size()), "Pass the whole tensor, contiguous.");
}

// As the reference library has it: the widest types first, so that each tensor is aligned.
std::vector<const TensorView*> in_file_order(std::span<const TensorView> tensors,
                                             const std::string& file) {
  std::vector<const TensorView*> order;
  for (const TensorView& tensor : tensors) {
    check_tensor(tensor, file);
    order.push_back(&tensor);
  }
  std::ranges::sort(order, {}, [](const TensorView* t) -> const std::string& { return t->name; });
  const auto twice = std::ranges::adjacent_find(
      order, [](const TensorView* a, const TensorView* b) { return a->name == b->name; });
  if (twice != order.end()) {
    fail_write(file, "each name once", fmt::format("{} twice", printable((*twice)->name)),
               "Give each tensor a name of its own.");
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const TensorView* t) { return t->dtype; });
  return order;
}

std::string json_string(const std::string& text, const std::string& file) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error& error) {  // names the byte
    fail_write(file, "names and metadata in UTF-8", printable(text),
               "Convert the text to UTF-8, e.g. with iconv.", {details_of(error)});
  }
}

// The length and the header, padded so that the values begin at a multiple of 8.
std::string encode_header(std::span<const TensorView* const> order,
                          const SafetensorsMetadata& metadata, const std::string& file) {
  std::string text = "{";
  const auto next = [&] { return text.back() == '{' ? "" : ","; };
  if (!metadata.empty()) {
    text += fmt::format("\"{}\":{{", detail::kMetadataKey);
    for (const auto& [key, value] : metadata) {
      text += fmt::format("{}{}:{}", next(), json_string(key, file), json_string(value, file));
    }
    text += '}';
  }
  std::uint64_t begin = 0;
  for (const TensorView* tensor : order) {
    const std::uint64_t end = begin + tensor->bytes.size();
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", next(),
                        json_string(tensor->name, file), dtype_name(tensor->dtype),
                        fmt::join(tensor->shape, ","), begin, end);
    begin = end;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > detail::kMaxHeaderBytes) {
    fail_write(file, fmt::format("a header of at most {} bytes", detail::kMaxHeaderBytes),
               fmt::format("{}", text.size()), "Save fewer tensors or less metadata.");
  }
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) {
    length += static_cast<char>(text.size() >> shift & 0xFF);
  }
  return length + text;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }

std::size_t dtype_bytes(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bytes; }

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto known = std::ranges::find(kDTypes, name, &DTypeInfo::name);
  if (known == kDTypes.end()) return std::nullopt;
  return static_cast<DType>(known - kDTypes.begin());
}

std::optional<std::uint64_t> tensor_bytes(DType dtype, std::span<const std::int64_t> shape) {
  auto product = static_cast<std::int64_t>(dtype_bytes(dtype));
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty |= size == 0;
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(1, size), &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) {
  FileBytes file(path);
  *this = parse_safetensors(file.bytes(), path.string());
  file_ = std::move(file);
}

const TensorView* SafetensorsFile::find(std::string_view name) const& noexcept {
  const auto name_at = [&](std::size_t place) -> std::string_view { return tensors_[place].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_at);
  return found == by_name_.end() || name_at(*found) != name ? nullptr : &tensors_[*found];
}

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text = header_text(bytes, name);
  detail::SafetensorsHeader header = detail::parse_header(text, name);
  const auto buffer = bytes.subspan(kLengthBytes + text.size());
  check_names(header.entries, name);
  for (const HeaderEntry& entry : header.entries) check_entry(entry, buffer.size(), name);
  std::ranges::stable_sort(header.entries, {}, [](const HeaderEntry& entry) {
    return std::pair(entry.begin, entry.end);
  });
  check_cover(header.entries, kLengthBytes + text.size(), buffer.size(), name);

  SafetensorsFile file;
  file.metadata_ = std::move(header.metadata);
  file.tensors_.reserve(header.entries.size());
  for (HeaderEntry& entry : header.entries) {
    file.tensors_.push_back({.name = std::move(entry.name),
                             .dtype = entry.dtype,
                             .shape = std::move(entry.shape),
                             .bytes = buffer.subspan(entry.begin, entry.end - entry.begin)});
  }
  file.by_name_ = sorted_by_name(file.tensors_);
  return file;
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const SafetensorsMetadata& metadata, const std::string& subject) {
  const std::string name = path.string();
  const auto order = in_file_order(tensors, name);
  const std::string header = encode_header(order, metadata, name);
  AtomicFile file(path, subject);
  file.write(std::as_bytes(std::span(header)));
  for (const TensorView* tensor : order) file.write(tensor->bytes);
  file.commit();
}

std::vector<std::byte> encode_safetensors(std::span<const TensorView> tensors,
                                          const SafetensorsMetadata& metadata) {
  const auto order = in_file_order(tensors, "");
  const std::string header = encode_header(order, metadata, "");
  const auto head = std::as_bytes(std::span(header));
  std::vector<std::byte> bytes(head.begin(), head.end());
  for (const TensorView* tensor : order) {
    bytes.insert(bytes.end(), tensor->bytes.begin(), tensor->bytes.end());
  }
  return bytes;
}

}  // namespace stoker
