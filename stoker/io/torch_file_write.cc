// The writing half of io/torch_file.h.
#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/io/detail/safetensors_header.h"
#include "stoker/io/detail/strided_rows.h"
#include "stoker/io/detail/text.h"
#include "stoker/io/detail/torch_storages.h"
#include "stoker/io/detail/zip_archive.h"
#include "stoker/io/torch_file.h"

namespace stoker {
namespace {

using detail::printable;
using detail::ZipInput;

[[noreturn]] void fail(const std::string& file, std::string expected, std::string found,
                       std::string hint) {
  throw Error({.what = "cannot write PyTorch file",
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

void check_saved_tensor(const TensorView& tensor, const std::string& file) {
  if (tensor.name.empty() || !is_utf8(tensor.name)) {
    fail(file, "tensors with names in UTF-8", printable(tensor.name), "Name the tensor.");
  }
  const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
  if (bytes == tensor.bytes.size() && tensor.shape.size() <= detail::kMaxDimensions) return;
  fail(file,
       fmt::format("{} bytes for tensor {} of {} and shape ({})",
                   bytes ? fmt::format("{}", *bytes) : "less than 2^63", printable(tensor.name),
                   dtype_name(tensor.dtype), fmt::join(tensor.shape, ", ")),
       fmt::format("{}", tensor.bytes.size()), "Pass the whole tensor, contiguous.");
}

void check_names(std::span<const TensorView> tensors, const std::string& file) {
  std::vector<std::string_view> names;
  for (const TensorView& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return;
  fail(file, "each name once", printable(*twice) + " twice", "Give each tensor a name of its own.");
}

// Appends the opcodes of one value after the other. Nothing is kept in the memo, which costs some
// bytes a tensor and makes the pickle easy to read.
class PickleWriter {
 public:
  void op(char opcode) { out_ += opcode; }
  void text(std::string_view text) {
    op('X');
    append(text.size(), 4);
    out_ += text;
  }
  void global(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    out_ += fmt::format("c{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
  }
  void integer(std::int64_t value) {
    if (value < 1 << 8) {
      op('K');
      append(static_cast<std::uint64_t>(value), 1);
    } else if (value <= 0x7FFF'FFFF) {
      op('J');
      append(static_cast<std::uint64_t>(value), 4);
    } else {
      out_ += "\x8A\x08";
      append(static_cast<std::uint64_t>(value), 8);
    }
  }
  void tuple(std::span<const std::int64_t> values) {
    op('(');
    for (const std::int64_t value : values) integer(value);
    op('t');
  }
  void empty_dict() {
    global("collections.OrderedDict");
    out_ += ")R";
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void append(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string out_;
};

// name: _rebuild_tensor_v2(storage `key`, 0, shape, strides, False, OrderedDict())
void write_item(PickleWriter& out, const TensorView& tensor, std::size_t key) {
  out.text(tensor.name);
  out.global("torch._utils._rebuild_tensor_v2");
  out.op('(');
  out.op('(');
  out.text("storage");
  out.global(detail::storage_class(tensor.dtype));
  out.text(fmt::format("{}", key));
  out.text("cpu");
  out.integer(static_cast<std::int64_t>(tensor.bytes.size() / dtype_bytes(tensor.dtype)));
  out.op('t');
  out.op('Q');
  out.integer(0);
  out.tuple(tensor.shape);
  out.tuple(detail::row_strides(tensor.shape));
  out.op('\x89');  // no gradient
  out.empty_dict();
  out.op('t');
  out.op('R');
}

std::string state_dict_pickle(std::span<const TensorView> tensors) {
  PickleWriter out;
  out.op('\x80');
  out.op('\x02');
  out.empty_dict();
  out.op('(');
  for (std::size_t i = 0; i < tensors.size(); ++i) write_item(out, tensors[i], i);
  out.op('u');
  out.op('.');
  return out.take();
}

// Calls `write` with the file's bytes, part by part.
template <class Write>
void write_parts(std::span<const TensorView> tensors, const std::string& file, Write&& write) {
  for (const TensorView& tensor : tensors) check_saved_tensor(tensor, file);
  check_names(tensors, file);
  const auto bytes_of = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const std::string pickle = state_dict_pickle(tensors), order = "little", version = "3\n";
  std::vector<ZipInput> records = {{"archive/data.pkl", bytes_of(pickle)},
                                   {"archive/byteorder", bytes_of(order)}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    records.push_back({fmt::format("archive/data/{}", i), tensors[i].bytes});
  }
  records.push_back({"archive/version", bytes_of(version)});
  detail::write_zip(records, write);
}

}  // namespace

void write_torch_file(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::string& subject) {
  AtomicFile file(path, subject);
  write_parts(tensors, path.string(), [&](std::span<const std::byte> part) { file.write(part); });
  file.commit();
}

std::vector<std::byte> encode_torch_file(std::span<const TensorView> tensors) {
  std::vector<std::byte> bytes;
  write_parts(tensors, "", [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  return bytes;
}

}  // namespace stoker
