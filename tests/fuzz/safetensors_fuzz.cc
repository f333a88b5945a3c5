// libFuzzer target: any bytes are an Error, or a file whose tensors share out the bytes after the
// header, and which is the same after being written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/io/safetensors.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

std::optional<stoker::SafetensorsFile> try_parse(std::span<const std::byte> bytes) {
  try {
    return stoker::parse_safetensors(bytes, "fuzz");
  } catch (const stoker::Error& error) {
    require(!error.details().expected.empty() && error.details().offset <= bytes.size());
    return std::nullopt;
  }
}

void check_layout(const stoker::SafetensorsFile& file, std::span<const std::byte> bytes) {
  // From the end: the last tensor ends with the file, each begins where the one before it ends.
  const std::byte* end = bytes.data() + bytes.size();
  for (std::size_t i = file.tensors().size(); i-- > 0;) {
    const stoker::TensorView& tensor = file.tensors()[i];
    require(tensor.bytes.data() + tensor.bytes.size() == end);
    require(stoker::tensor_bytes(tensor.dtype, tensor.shape) == tensor.bytes.size());
    require(file.find(tensor.name) == &tensor);
    end = tensor.bytes.data();
  }
  require(end >= bytes.data() + 10);  // the length and {}
}

void check_round_trip(const stoker::SafetensorsFile& file) {
  const auto written = stoker::encode_safetensors(file.tensors(), file.metadata());
  const stoker::SafetensorsFile again = stoker::parse_safetensors(written, "written");
  check_layout(again, written);
  require(again.metadata() == file.metadata());
  require(again.tensors().size() == file.tensors().size());
  for (const stoker::TensorView& tensor : file.tensors()) {
    const stoker::TensorView* found = again.find(tensor.name);
    require(found != nullptr && found->dtype == tensor.dtype && found->shape == tensor.shape);
    require(std::ranges::equal(found->bytes, tensor.bytes));
  }
  require(stoker::encode_safetensors(again.tensors(), again.metadata()) == written);
}

void check(std::span<const std::byte> bytes) {
  const auto file = try_parse(bytes);
  if (!file) return;
  check_layout(*file, bytes);
  check_round_trip(*file);
}

// A header with a length in front that fits, and values behind.
void check_framed(std::span<const std::byte> header, std::span<const std::byte> values) {
  std::vector<std::byte> framed;
  for (int shift = 0; shift < 64; shift += 8) {
    framed.push_back(static_cast<std::byte>(header.size() >> shift));
  }
  framed.insert(framed.end(), header.begin(), header.end());
  framed.insert(framed.end(), values.begin(), values.end());
  check(framed);
}

// The fuzzer's bytes as decisions; 0 after the last.
class Decisions {
 public:
  explicit Decisions(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t below(std::size_t limit) {
    if (bytes_.empty()) return 0;
    const auto value = std::to_integer<std::size_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return value % limit;
  }

 private:
  std::span<const std::byte> bytes_;
};

// An entry that mostly fits those before it, whose values end at `*end`.
std::string build_entry(Decisions& decide, std::uint64_t* end) {
  const auto dtype = static_cast<stoker::DType>(decide.below(10));
  std::vector<std::int64_t> shape(decide.below(4));
  for (std::int64_t& size : shape) {
    size = static_cast<std::int64_t>(decide.below(5));
    if (decide.below(16) == 1) size <<= 8 * decide.below(8);
  }
  const std::uint64_t begin = *end + (decide.below(16) == 1 ? decide.below(3) : 0);
  *end = begin + stoker::tensor_bytes(dtype, shape).value_or(1);
  if (decide.below(16) == 1) *end -= decide.below(3);
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                     decide.below(8), stoker::dtype_name(dtype), fmt::join(shape, ","), begin,
                     *end);
}

// Text of the format, since bytes alone rarely make a whole entry: a few entries, then a byte or
// two changed.
void check_built(std::span<const std::byte> bytes) {
  Decisions decide(bytes);
  std::string header = R"({"__metadata__":{"k":"v"})";
  std::uint64_t end = 0;
  for (std::size_t left = decide.below(5); left > 0; --left) {
    header += "," + build_entry(decide, &end);
  }
  header += "}";
  for (std::size_t left = decide.below(3); left > 0; --left) {
    header[(decide.below(256) * 256 + decide.below(256)) % header.size()] =
        static_cast<char>(decide.below(256));
  }
  constexpr std::uint64_t kMostValues = 1 << 12;
  const std::vector<std::byte> values(std::min(end, kMostValues), std::byte{7});
  check_framed(std::as_bytes(std::span(header)), values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  if (size > 0) {  // the first byte says how many of the last are values
    const auto rest = bytes.subspan(1);
    const std::size_t values = std::min<std::size_t>(data[0], rest.size());
    check_framed(rest.first(rest.size() - values), rest.last(values));
  }
  check_built(bytes);
  return 0;
}
