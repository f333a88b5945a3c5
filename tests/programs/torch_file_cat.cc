// Test program: `torch_file_cat FILE` prints a JSON line with the part of the file that is read and
// one for each tensor; `torch_file_cat FILE OUT` writes the same tensors to OUT; `torch_file_cat
// --zip64 FILE OUT` packs the records of FILE again, with all sizes in 64 bits.
// tests/torch_file_test.py compares all of them with what Python's torch says.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/atomic_file.h"
#include "stoker/core/input_file.h"
#include "stoker/io/detail/zip_archive.h"
#include "stoker/io/test_tensor_line.h"
#include "stoker/io/torch_file.h"

namespace {

void print(const stoker::TorchFile& file) {
  fmt::print("{}\n", nlohmann::json{{"part", file.part()}}.dump());
  for (const stoker::TensorView& tensor : file.tensors())
    fmt::print("{}\n", stoker::test::line_for(tensor));
}

void repack(const char* from, const char* to) {
  const stoker::FileBytes file{std::filesystem::path(from)};
  const stoker::detail::ZipArchive zip(file.bytes(), from);
  std::vector<stoker::detail::ZipInput> records;
  for (const auto& record : zip.records()) {
    records.push_back({.name = std::string(record.name), .bytes = record.bytes});
  }
  const auto layout = stoker::detail::lay_out_zip(records, /*zip64_from=*/0);
  stoker::AtomicFile out{std::filesystem::path(to)};
  for (std::size_t i = 0; i < records.size(); ++i) {
    out.write(std::as_bytes(std::span(layout.headers[i])));
    out.write(records[i].bytes);
  }
  out.write(std::as_bytes(std::span(layout.directory)));
  out.commit();
}

void run(int count, char** arguments) {
  if (count == 4) {
    repack(arguments[2], arguments[3]);
    return;
  }
  const stoker::TorchFile file{std::filesystem::path(arguments[1])};
  if (count == 2) {
    print(file);
  } else {
    stoker::write_torch_file(arguments[2], file.tensors());
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool repacks = count == 4 && std::string_view(arguments[1]) == "--zip64";
  if (count != 2 && count != 3 && !repacks) {
    std::fputs("usage: torch_file_cat FILE [OUT], or torch_file_cat --zip64 FILE OUT\n", stderr);
    return 2;
  }
  try {
    run(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "torch_file_cat: {}\n", error.what());
    return 1;
  }
}
