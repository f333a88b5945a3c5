#include "stoker/data/sources/field_rows.h"

#include <algorithm>
#include <utility>

#include "stoker/core/invariant.h"

namespace stoker {

FieldRows::FieldRows(std::vector<FieldInfo> fields) : fields_(std::move(fields)) {
  if (has_classes()) class_count_ = fields_.front().values.size();
  number_count_ = stoker::number_count(fields_) - class_count_;
  STOKER_INVARIANT(has_classes() || find_field(fields_, kClassesField) == nullptr,
                   "classes come first of {} fields", fields_.size());
}

bool FieldRows::has_classes() const noexcept {
  return !fields_.empty() && fields_.front().name == kClassesField;
}

void FieldRows::add(std::span<const std::uint32_t> classes, std::span<const float> numbers) {
  STOKER_INVARIANT(numbers.size() == number_count_, "{} of {} numbers", numbers.size(),
                   number_count_);
  STOKER_INVARIANT(
      classes.empty() || (std::ranges::is_sorted(classes) && classes.back() < class_count_),
      "{} classes of {}", classes.size(), class_count_);
  if (fields_.empty()) return;
  if (has_classes()) {
    classes_.insert(classes_.end(), classes.begin(), classes.end());
    class_ends_.push_back(classes_.size());
  }
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  ++size_;
}

void FieldRows::add_row(const FieldRows& other, std::size_t row) {
  if (!fields_.empty()) add(other.classes(row), other.numbers(row));
}

std::span<const std::uint32_t> FieldRows::classes(std::size_t row) const {
  if (!has_classes()) return {};
  const std::uint64_t begin = row == 0 ? 0 : class_ends_.at(row - 1);
  return std::span(classes_).subspan(begin, class_ends_.at(row) - begin);
}

std::span<const float> FieldRows::numbers(std::size_t row) const {
  return std::span(numbers_).subspan(row * number_count_, number_count_);
}

void FieldRows::read(std::size_t row, std::span<float> out) const {
  if (fields_.empty() && out.empty()) return;
  STOKER_INVARIANT(row < size_ && out.size() == class_count_ + number_count_,
                   "sample {} of {}, a buffer of {} numbers", row, size_, out.size());
  std::ranges::fill(out.first(class_count_), 0.0F);
  for (const std::uint32_t place : classes(row)) out[place] = 1.0F;
  std::ranges::copy(numbers(row), out.begin() + static_cast<std::ptrdiff_t>(class_count_));
}

}  // namespace stoker
