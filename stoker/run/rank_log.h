// What a rank other than 0 writes: rank-N.log in the run's folder, or, where that cannot be reached
// from its machine, lines on stderr.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/train/observer.h"

namespace stoker {

class RankLog final : public Observer {
 public:
  RankLog(const std::filesystem::path& folder, int rank);
  // With the time; never throws.
  void say(const std::string& line) const noexcept;
  void diverged(const State& state, const std::string& how) override;
  void epoch_done(const EpochReport& report) override;

 private:
  std::filesystem::path path_;
  int rank_;
};

}  // namespace stoker
