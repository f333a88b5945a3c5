#include "stoker/data/identity_difference.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/data/detail/identity_lines.h"

namespace stoker {
namespace {

using detail::IdentityLine;
using detail::ParsedIdentity;
using detail::shown_field;

constexpr std::size_t kChunkLines = 1024;
constexpr std::size_t kDigestDigits = 16;

bool is_unit(const IdentityLine& line) {
  return line.kind == "image" || line.kind == "shard" || line.kind == "array" ||
         line.kind == "sample";
}

// "1,024"
std::string grouped(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

// One side, with what is needed to look things up.
class Side {
 public:
  explicit Side(std::string_view text) : identity_(detail::parse_identity(text)) {
    for (const IdentityLine& line : identity_.lines) {
      if (is_unit(line)) units_.push_back(line);
      if (line.kind == "class" || line.kind == "field") classes_.push_back(line);
      if (line.kind == "samples") samples_.push_back(line);
    }
    for (std::size_t i = 0; i < units_.size(); ++i) by_name_[units_[i].name].push_back(i);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] const std::vector<IdentityLine>& units() const noexcept { return units_; }
  [[nodiscard]] const std::vector<IdentityLine>& classes() const noexcept { return classes_; }
  [[nodiscard]] const std::vector<IdentityLine>& samples() const noexcept { return samples_; }
  [[nodiscard]] bool has(std::string_view name) const { return by_name_.contains(name); }
  [[nodiscard]] std::string_view part_of(const IdentityLine& line) const {
    return identity_.parts[line.part];
  }
  // The unit of that name, preferably in that part; null where there is none.
  [[nodiscard]] const IdentityLine* find(std::string_view name, std::string_view part) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    for (const std::size_t i : found->second) {
      if (part_of(units_[i]) == part) return &units_[i];
    }
    return &units_[found->second.front()];
  }
  // The name of a label in the part of this line; the number where the text does not hold it.
  [[nodiscard]] std::string class_of(const IdentityLine& line) const {
    for (const IdentityLine& known : classes_) {
      if (known.kind == "class" && known.part == line.part && known.name == line.number) {
        return fmt::format("'{}'", shown_field(known.bytes));
      }
    }
    return fmt::format("number {}", line.number);
  }

 private:
  ParsedIdentity identity_;
  std::vector<IdentityLine> units_, classes_, samples_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_name_;
};

class Comparer {
 public:
  Comparer(std::string_view here, std::string_view there, const IdentitySides& sides,
           IdentityExtent extent)
      : here_(here), there_(there), sides_(sides), extent_(extent) {}

  [[nodiscard]] std::string run() const {
    using Check = std::string (Comparer::*)() const;
    for (const Check check : {&Comparer::classes, &Comparer::missing, &Comparer::changed,
                              &Comparer::order, &Comparer::samples}) {
      if (std::string found = (this->*check)(); !found.empty()) return found;
    }
    return "";
  }

 private:
  [[nodiscard]] std::string only(std::string_view what, const std::string& where,
                                 const std::string& not_where) const {
    return fmt::format("{} is {} and not {}", what, where, not_where);
  }

  [[nodiscard]] std::string classes() const {
    const auto &a = here_.classes(), &b = there_.classes();
    const auto text = [](const IdentityLine& line) {
      if (line.kind == "field") {
        return fmt::format("{} ('{}')", shown_field(line.name), shown_field(line.bytes));
      }
      return fmt::format("class {} ('{}')", line.name, shown_field(line.bytes));
    };
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const bool in_a = i < a.size() && (i >= b.size() || a[i].part <= b[i].part);
      const bool in_b = i < b.size() && (i >= a.size() || b[i].part <= a[i].part);
      if (in_a && !in_b) return only(text(a[i]), sides_.here, sides_.there);
      if (in_b && !in_a) return only(text(b[i]), sides_.there, sides_.here);
      if (a[i].kind != b[i].kind || (a[i].kind == "field" && a[i].name != b[i].name)) {
        return fmt::format("{} is {} where {} is {}", text(a[i]), sides_.here, text(b[i]),
                           sides_.there);
      }
      if (a[i].kind == "field" && a[i].bytes != b[i].bytes) {
        return fmt::format("{} is '{}' {} and '{}' {}", shown_field(a[i].name),
                           shown_field(a[i].bytes), sides_.here, shown_field(b[i].bytes),
                           sides_.there);
      }
      if (a[i].name != b[i].name || a[i].bytes != b[i].bytes) {
        return fmt::format("class {} is '{}' {} and '{}' {}", a[i].name, shown_field(a[i].bytes),
                           sides_.here, shown_field(b[i].bytes), sides_.there);
      }
    }
    return "";
  }

  // What only one side has, the earliest first.
  [[nodiscard]] std::string missing() const {
    const auto &a = here_.units(), &b = there_.units();
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const bool only_a = i < a.size() && !there_.has(a[i].name);
      const bool only_b = i < b.size() && !here_.has(b[i].name);
      if (!only_a && !only_b) continue;
      if (extent_ == IdentityExtent::kWindow && i < a.size() && i < b.size()) {
        return other_place(a[i], b[i]);
      }
      if (only_a) return only(shown_field(a[i].name), sides_.here, sides_.there);
      return only(shown_field(b[i].name), sides_.there, sides_.here);
    }
    return "";
  }

  [[nodiscard]] std::string other_place(const IdentityLine& a, const IdentityLine& b) const {
    return fmt::format("{} is {} where {} is {}", shown_field(a.name), sides_.here,
                       shown_field(b.name), sides_.there);
  }

  [[nodiscard]] std::string changed() const {
    for (const IdentityLine& a : here_.units()) {
      const std::string_view part = here_.part_of(a);
      const IdentityLine* b = there_.find(a.name, part);
      if (b == nullptr) continue;  // a window's end
      if (std::string found = compare(a, *b); !found.empty()) return found;
      if (const std::string_view other = there_.part_of(*b); other != part) {
        return fmt::format("{} is in the {} data {} and in the {} data {}", shown_field(a.name),
                           part, sides_.here, other, sides_.there);
      }
    }
    return "";
  }

  [[nodiscard]] std::string compare(const IdentityLine& a, const IdentityLine& b) const {
    const std::string name = shown_field(a.name);
    if (a.bytes != b.bytes && a.digest != "!" && b.digest != "!") {
      return fmt::format("{} has {} bytes {} and {} {}", name, grouped(a.bytes), sides_.here,
                         grouped(b.bytes), sides_.there);
    }
    if (a.number != b.number) {
      if (a.kind == "image") {
        return fmt::format("{} is of class {} {} and of class {} {}", name, here_.class_of(a),
                           sides_.here, there_.class_of(b), sides_.there);
      }
      return fmt::format("{} has {} samples {} and {} {}", name, grouped(a.number), sides_.here,
                         grouped(b.number), sides_.there);
    }
    if (a.numbers != b.numbers) {
      return fmt::format("{} has other labels {} than {}", name, sides_.here, sides_.there);
    }
    if (a.digest == b.digest || a.digest == "-" || b.digest == "-") return "";
    if (a.digest == "!") return fmt::format("{} cannot be read {}", name, sides_.here);
    if (b.digest == "!") return fmt::format("{} could not be read {}", name, sides_.there);
    return fmt::format("{} has other content {} than {}", name, sides_.here, sides_.there);
  }

  [[nodiscard]] std::string order() const {
    const auto &a = here_.units(), &b = there_.units();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].name != b[i].name) return other_place(a[i], b[i]);
    }
    if (a.size() == b.size()) return "";
    const bool more = a.size() > b.size();
    const IdentityLine& line = more ? a[b.size()] : b[a.size()];
    return fmt::format("{} is more often {} than {}", shown_field(line.name),
                       more ? sides_.here : sides_.there, more ? sides_.there : sides_.here);
  }

  [[nodiscard]] std::string samples() const {
    const auto &a = here_.samples(), &b = there_.samples();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].name == b[i].name) continue;
      return fmt::format("the {} data has {} samples {} and {} {}", here_.part_of(a[i]),
                         grouped(a[i].name), sides_.here, grouped(b[i].name), sides_.there);
    }
    if (a.size() == b.size() || extent_ == IdentityExtent::kWindow) return "";
    const bool more = a.size() > b.size();
    const Side& side = more ? here_ : there_;
    const IdentityLine& line = more ? a[b.size()] : b[a.size()];
    return only(fmt::format("a part of the data ({})", side.part_of(line)),
                more ? sides_.here : sides_.there, more ? sides_.there : sides_.here);
  }

  Side here_, there_;
  IdentitySides sides_;
  IdentityExtent extent_;
};

// Calls with each chunk of the text and the part that it begins in.
template <class Function>
void each_chunk(std::string_view text, const Function& function) {
  std::string_view part;
  while (!text.empty()) {
    const std::string_view part_here = part;
    std::size_t end = 0;
    for (std::size_t line = 0; line < kChunkLines && end < text.size(); ++line) {
      const std::size_t begin = end;
      end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      const std::string_view whole = text.substr(begin, end - begin);
      if (whole.starts_with("part\t")) part = whole;
    }
    function(text.substr(0, end), part_here);
    text.remove_prefix(end);
  }
}

}  // namespace

std::string first_difference(std::string_view here, std::string_view there,
                             const IdentitySides& sides, IdentityExtent extent) {
  if (here == there) return "";
  return Comparer(here, there, sides, extent).run();
}

std::string chunk_digests(std::string_view text) {
  std::string digests;
  each_chunk(text, [&](std::string_view chunk, std::string_view) {
    digests += fmt::format("{:016x}", digest64(std::as_bytes(std::span(chunk))));
  });
  return digests;
}

std::optional<std::size_t> first_different_chunk(std::string_view digests_here,
                                                 std::string_view digests_there) {
  if (digests_here == digests_there) return std::nullopt;
  const auto [a, b] = std::ranges::mismatch(digests_here, digests_there);
  return static_cast<std::size_t>(a - digests_here.begin()) / kDigestDigits;
}

std::string chunk_window(std::string_view text, std::size_t chunk) {
  std::string window;
  std::size_t number = 0;
  each_chunk(text, [&](std::string_view lines, std::string_view part) {
    if (number == chunk) window = part;
    if (number == chunk || number == chunk + 1) window += lines;
    ++number;
  });
  return window;
}

}  // namespace stoker
