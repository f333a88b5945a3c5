#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "own_data.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

// Values of a column in several pieces.
class Column {
 public:
  explicit Column(std::vector<ArrowChunk> chunks) : chunks_(std::move(chunks)) {
    for (const ArrowChunk& chunk : chunks_) {
      begins_.push_back(size_);
      size_ += chunk.length;
    }
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  // Nothing where the value is missing. Offsets come from a file: they are checked.
  [[nodiscard]] Result<std::optional<std::span<const std::byte>>> value(std::uint64_t row) const {
    using Value = std::optional<std::span<const std::byte>>;
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), row);
    const auto number = static_cast<std::size_t>(after - begins_.begin() - 1);
    const ArrowChunk& chunk = chunks_[number];
    const std::uint64_t place = chunk.first + (row - begins_[number]);
    if (chunk.validity != 0) {
      const auto* bits = reinterpret_cast<const std::uint8_t*>(chunk.validity);
      if ((bits[place / 8] >> (place % 8) & 1) == 0) return Value();
    }
    const auto [begin, end] =
        chunk.wide ? ends_of<std::int64_t>(chunk, place) : ends_of<std::int32_t>(chunk, place);
    if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > chunk.data_bytes) {
      return ErrorDetails{.what = "the Arrow column is damaged",
                          .expected = fmt::format("offsets up to {}", chunk.data_bytes),
                          .found = fmt::format("{} to {}", begin, end)};
    }
    return Value(std::span(reinterpret_cast<const std::byte*>(chunk.data) + begin,
                           static_cast<std::size_t>(end - begin)));
  }

 private:
  template <class Offset>
  static std::pair<std::int64_t, std::int64_t> ends_of(const ArrowChunk& chunk,
                                                       std::uint64_t place) {
    const auto* offsets = reinterpret_cast<const Offset*>(chunk.offsets);
    return {offsets[place], offsets[place + 1]};
  }

  std::vector<ArrowChunk> chunks_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t size_ = 0;
};

Result<std::span<const std::byte>> read_path(std::span<const std::byte> name,
                                             const MakeRoom& room) {
  const std::string path(reinterpret_cast<const char*>(name.data()), name.size());
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > kMostFileBytes) {
    return ErrorDetails{.what = "cannot read the image",
                        .path = path,
                        .found = bytes < 0 ? std::strerror(errno) : "more than a gigabyte"};
  }
  const std::span<std::byte> out = room(static_cast<std::size_t>(bytes));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(out.data()), bytes);
  if (file.gcount() == bytes) return std::span<const std::byte>(out);
  return ErrorDetails{.what = "cannot read the image",
                      .path = path,
                      .found = "it became shorter while it was read"};
}

class ArrowSource final : public EncodedSource {
 public:
  ArrowSource(ArrowColumns columns, nb::object owner, OwnDataOptions options)
      : EncodedSource(options.images),
        owner_(share(std::move(owner))),
        options_(std::move(options)),
        files_(std::move(columns.files)),
        paths_(std::move(columns.paths)),
        labels_(std::move(columns.labels)),
        rows_(std::move(columns.rows)) {
    const bool fits = labels_.size() == files_.size() &&
                      (paths_.size() == 0 || paths_.size() == files_.size()) &&
                      std::ranges::all_of(rows_, [&](auto row) { return row < files_.size(); });
    if (!fits) throw Error({.what = "the columns of the table differ in length"});
  }

  [[nodiscard]] std::uint64_t size() const override {
    return rows_.empty() ? files_.size() : rows_.size();
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return options_.class_names;
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("{}[{}]", options_.name, row_of(index));
  }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index, SampleBuffer&) const override {
    return labels_[row_of(index)];
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    const std::uint64_t row = row_of(index);
    auto file = files_.value(row);
    if (!file) return file.error();
    if (*file) return **file;
    if (paths_.size() > 0) {
      auto path = paths_.value(row);
      if (!path) return path.error();
      if (*path) return read_path(**path, room);
    }
    return ErrorDetails{.what = "the image is missing", .path = sample_name(index)};
  }
  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t index) const override {
    auto file = files_.value(row_of(index));
    return file && *file ? (*file)->size() : 0;
  }

 private:
  [[nodiscard]] std::uint64_t row_of(std::uint64_t index) const {
    return rows_.empty() ? index : rows_.at(index);
  }

  SharedObject owner_;  // of the memory that the columns refer to
  OwnDataOptions options_;
  Column files_, paths_;
  std::vector<std::int64_t> labels_;
  std::vector<std::uint64_t> rows_;
};

}  // namespace

std::shared_ptr<const Source> make_arrow_source(ArrowColumns columns, nb::object owner,
                                                OwnDataOptions options) {
  return std::make_shared<ArrowSource>(std::move(columns), std::move(owner), std::move(options));
}

}  // namespace stoker::python
