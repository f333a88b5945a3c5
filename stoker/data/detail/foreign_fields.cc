#include "stoker/data/detail/foreign_fields.h"

#include <algorithm>

#include "stoker/core/error.h"

namespace stoker::detail {

void ForeignFields::see(const JsonLabels& labels) {
  if (keys_.labels.size() != 1) return;
  if (!any_) flags_ = labels.flags.size();
  any_ = true;
  some_lists_ = some_lists_ || labels.is_list;
  all_lists_ = all_lists_ && labels.is_list;
  all_flags_ = all_flags_ && !labels.flags.empty() && labels.flags.size() == flags_;
  for (const std::string& name : labels.names) static_cast<void>(numbers_.number(name));
}

void ForeignFields::finish(const std::string& where) {
  if (some_lists_ && !all_lists_) {
    throw Error({.what = "the classes of some samples are a list and those of others are not",
                 .path = where,
                 .expected = "a list under \"" + keys_.labels.front() + "\" in every .json"});
  }
  if (keys_.labels.size() > 1 || (keys_.labels.size() == 1 && !some_lists_)) {
    fields_.push_back({std::string(kClassesField), keys_.labels});
  } else if (keys_.labels.size() == 1) {
    FieldInfo field{.name = std::string(kClassesField), .values = {}};
    if (all_flags_) {
      for (std::size_t i = 0; i < flags_; ++i) field.values.push_back(std::to_string(i));
    } else {
      sorted_ = numbers_.sorted({});
      field.values = sorted_.names;
    }
    if (field.values.empty()) {
      throw Error({.what = "no sample of the shards has a class", .path = where});
    }
    fields_.push_back(std::move(field));
  }
  if (!keys_.targets.empty()) fields_.push_back({std::string(kTargetField), keys_.targets});
  if (!keys_.weight.empty()) fields_.push_back({std::string(kWeightField), {keys_.weight}});
}

void ForeignFields::add_row(const JsonLabels& labels, FieldRows& rows) const {
  std::vector<std::uint32_t> classes;
  const bool by_name = keys_.labels.size() == 1 && some_lists_ && !all_flags_;
  if (by_name) {
    for (const std::string& name : labels.names) {
      const auto place = std::ranges::lower_bound(sorted_.names, name);
      classes.push_back(static_cast<std::uint32_t>(place - sorted_.names.begin()));
    }
    std::ranges::sort(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  } else {
    for (std::uint32_t i = 0; i < labels.flags.size(); ++i) {
      if (labels.flags[i]) classes.push_back(i);
    }
  }
  rows.add(classes, labels.numbers);
}

}  // namespace stoker::detail
