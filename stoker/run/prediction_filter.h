// Which predictions a user wants to see: "p<0.6" (the doubtful ones), "p>=0.99", "class=dirty",
// several of them with commas between, all of which must hold.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

class PredictionFilter {
 public:
  PredictionFilter() = default;  // lets everything through
  // Throws Error where the text is something else, or a class is not among the names.
  PredictionFilter(std::string_view text, const std::vector<std::string>& class_names);

  // `p` is the probability of the class that was chosen.
  [[nodiscard]] bool lets_through(std::string_view chosen_class, double p) const;

 private:
  struct Condition {
    std::string class_name;  // empty: a bound of p
    bool less = false, or_equal = false;
    double bound = 0;
  };
  std::vector<Condition> conditions_;
};

}  // namespace stoker
