// Names as they occur, numbered in that order, and their places once all are known and sorted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stoker::detail {

class ClassNumbers {
 public:
  // The number of a name, the same whenever it comes.
  [[nodiscard]] std::uint32_t number(std::string_view name);
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

  struct Sorted {
    std::vector<std::string> names;
    std::vector<std::uint32_t> place;  // of each number, in `names`
  };
  // By name, byte by byte; or as `known`, where that holds all of them.
  [[nodiscard]] Sorted sorted(std::span<const std::string> known) const;

 private:
  struct Hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>()(name);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> names_;  // keys of numbers_, which stay where they are
};

}  // namespace stoker::detail
