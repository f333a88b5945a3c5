// libFuzzer target: any bytes are an Error, or a file whose tensors have the bytes of their shapes
// and are the same after being written and read again. The bytes are tried as a whole file, and as
// the pickle of a file of either format, since a mutation rarely keeps an archive's places right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/io/torch_file.h"

namespace {

using Bytes = std::vector<std::byte>;

void require(bool promise) {
  if (!promise) std::abort();
}

std::optional<stoker::TorchFile> try_parse(std::span<const std::byte> bytes) {
  try {
    return stoker::parse_torch_file(bytes, "fuzz");
  } catch (const stoker::Error& error) {
    require(!error.details().expected.empty() && !error.details().found.empty());
    require(error.details().offset <= bytes.size());
    return std::nullopt;
  }
}

void check_tensors(const stoker::TorchFile& file) {
  unsigned sum = 0;
  for (const stoker::TensorView& tensor : file.tensors()) {
    require(stoker::tensor_bytes(tensor.dtype, tensor.shape) == tensor.bytes.size());
    require(file.find(tensor.name) == &tensor);
    for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
  }
  volatile unsigned used = sum;  // so that every byte is read
  (void)used;
}

void check_round_trip(const stoker::TorchFile& file) {
  const Bytes written = stoker::encode_torch_file(file.tensors());
  const stoker::TorchFile again = stoker::parse_torch_file(written, "written");
  require(again.tensors().size() == file.tensors().size() && again.part().empty());
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const stoker::TensorView &a = file.tensors()[i], &b = again.tensors()[i];
    require(a.name == b.name && a.dtype == b.dtype && a.shape == b.shape);
    require(std::ranges::equal(a.bytes, b.bytes));
  }
  require(stoker::encode_torch_file(again.tensors()) == written);
}

void check(std::span<const std::byte> bytes) {
  const auto file = try_parse(bytes);
  if (!file) return;
  check_tensors(*file);
  check_round_trip(*file);
}

void append(Bytes& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_number(Bytes& out, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

struct Record {
  std::string_view name;
  std::span<const std::byte> bytes;
};

// A stored archive without checksums.
Bytes archive_of(std::span<const Record> records) {
  Bytes out, directory;
  for (const Record& record : records) {
    const std::uint64_t begin = out.size();
    Bytes shared;
    append_number(shared, 20, 8);  // version, no flags, stored, no time
    append_number(shared, 0, 2);   // no date
    append_number(shared, 0, 4);   // not computed
    append_number(shared, record.bytes.size(), 4);
    append_number(shared, record.bytes.size(), 4);
    append_number(shared, record.name.size(), 4);  // and no extra fields
    append(out, "PK\3\4");
    out.insert(out.end(), shared.begin(), shared.end());
    append(out, record.name);
    out.insert(out.end(), record.bytes.begin(), record.bytes.end());
    append(directory, "PK\1\2");
    append_number(directory, 20, 2);
    directory.insert(directory.end(), shared.begin(), shared.end());
    directory.insert(directory.end(), 10, std::byte{0});
    append_number(directory, begin, 4);
    append(directory, record.name);
  }
  const std::uint64_t begin = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  append(out, "PK\5\6");
  append_number(out, 0, 4);
  append_number(out, records.size(), 2);
  append_number(out, records.size(), 2);
  append_number(out, directory.size(), 4);
  append_number(out, begin, 4);
  append_number(out, 0, 2);
  return out;
}

// Storages of the sizes that the seeds have, from 0 on: 0 to 3 of 24, 48, 12 and 6 bytes.
void check_as_zip_pickle(std::span<const std::byte> pickle) {
  static const Bytes kValues(48, std::byte{7});
  static const std::string kVersion = "3\n";
  const std::span<const std::byte> values(kValues);
  const std::vector<Record> records = {
      {"a/data.pkl", pickle},         {"a/version", std::as_bytes(std::span(kVersion))},
      {"a/data/0", values.first(24)}, {"a/data/1", values},
      {"a/data/2", values.first(12)}, {"a/data/3", values.first(6)}};
  check(archive_of(records));
}

void check_as_old_pickle(std::span<const std::byte> pickle) {
  Bytes file;
  append(file, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.");
  append(file, "\x80\x02M\xE9\x03.\x80\x02}.");
  file.insert(file.end(), pickle.begin(), pickle.end());
  append(file,
         "\x80\x02](U\x01"
         "0e.");
  append_number(file, 6, 8);
  file.insert(file.end(), 24, std::byte{7});
  check(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  check_as_zip_pickle(bytes);
  check_as_old_pickle(bytes);
  return 0;
}
