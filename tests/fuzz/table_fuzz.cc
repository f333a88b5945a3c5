// libFuzzer target: any text is an Error or a table whose cells, written again, read back to the
// same; and, as a table of images, an Error with a line and a column or a listing that keeps its
// promises, whatever columns are asked for.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/data/detail/delimited_table.h"
#include "stoker/data/sources/image_table.h"

namespace {

using stoker::detail::DelimitedTable;
using Rows = std::vector<std::vector<std::string>>;

void require(bool promise) {
  if (!promise) std::abort();
}

Rows rows_of(std::string_view text, char delimiter) {
  DelimitedTable table(text, delimiter, "t.csv");
  Rows rows = {table.columns()};
  std::uint32_t line = 0;
  while (table.next()) {
    require(table.line() > line);
    line = table.line();
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < table.columns().size(); ++i) row.emplace_back(table.cell(i));
  }
  return rows;
}

std::string text_of(const Rows& rows, char delimiter) {
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (const std::string& cell : row) {
      line += (&cell == row.data() ? "" : std::string(1, delimiter)) +
              stoker::detail::as_cell(cell, delimiter);
    }
    text += line.empty() ? "\"\"\n" : line + "\n";  // an empty line would be passed over
  }
  return text;
}

void check_cells(std::string_view text, char delimiter) {
  try {
    const Rows rows = rows_of(text, delimiter);
    require(rows_of(text_of(rows, delimiter), delimiter) == rows);
  } catch (const stoker::Error&) {
  }
}

void check_images(std::string_view text, const stoker::TableRequest& request) {
  for (const stoker::Split split : {stoker::Split::kTrain, stoker::Split::kValidation}) {
    try {
      const stoker::ImageListing listing =
          stoker::parse_image_table(text, "/somewhere/t.csv", split, request);
      require(!listing.images.empty());
      std::vector<float> numbers(number_count(listing.fields.fields()));
      for (std::size_t i = 0; i < listing.images.size(); ++i) {
        const stoker::ListedImage& image = listing.images[i];
        require(!image.path.empty() && image.line > 1);
        require(listing.class_names.empty()
                    ? image.label == stoker::kNoClass
                    : image.label >= 0 &&
                          image.label < static_cast<std::int64_t>(listing.class_names.size()));
        if (numbers.empty()) continue;
        listing.fields.read(i, numbers);
        for (const float number : numbers) require(std::isfinite(number));
      }
    } catch (const stoker::Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char delimiter : {',', '\t'}) check_cells(text, delimiter);
  check_images(text, {});
  check_images(text, {.needs_labels = false, .repeated_paths = true});
  // A header that has all columns, so that mutations reach the cells.
  const std::string table = "path,a,b,split\nx.png,1,0,train\n" + std::string(text);
  check_images(table, {.columns = {.labels = {"a"}}});
  check_images(table, {.columns = {.labels = {"a", "b"}}});
  check_images(table, {.columns = {.weight = "b", .targets = {"a"}}});
  check_images(table, {.columns = {.label = "a", .split = "none"}, .known_classes = {"z", "1"}});
  return 0;
}
