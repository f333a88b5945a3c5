#include "stoker/run/number_table.h"

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "stoker/core/error.h"
#include "stoker/core/input_file.h"

namespace stoker {
namespace {

double number_of(const std::string& field) {
  char* end = nullptr;
  const double value = std::strtod(field.c_str(), &end);
  return end == field.c_str() ? std::nan("") : value;
}

std::vector<std::string> split_at_commas(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t comma = line.find(','); comma != std::string::npos;
       comma = line.find(',', begin)) {
    fields.push_back(line.substr(begin, comma - begin));
    begin = comma + 1;
  }
  fields.push_back(line.substr(begin));
  return fields;
}

}  // namespace

NumberTable read_number_table(const std::filesystem::path& path) {
  std::istringstream stream(read_text_file(path, "cannot read the table"));
  std::string line;
  if (!std::getline(stream, line)) {
    throw Error({.what = "cannot read the table",
                 .path = path.string(),
                 .expected = "a CSV file with a line of names, or the folder of a run"});
  }
  NumberTable table{.columns = split_at_commas(line), .values = {}};
  table.values.resize(table.columns.size());
  while (std::getline(stream, line)) {
    const std::vector<std::string> fields = split_at_commas(line);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      table.values[i].push_back(i < fields.size() ? number_of(fields[i]) : std::nan(""));
    }
  }
  return table;
}

}  // namespace stoker
