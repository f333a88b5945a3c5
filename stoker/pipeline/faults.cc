#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/plain_text.h"
#include "stoker/pipeline/fault_list.h"

namespace stoker {
namespace {

// Always quoted: reasons hold commas. People look at the file in terminals too.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : plain_lines(text)) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace

TooManyFaults::TooManyFaults(std::vector<SampleFault> faults, std::uint64_t most)
    : Error({.what =
                 fmt::format("too many samples cannot be made; the last is {}", faults.back().name),
             .expected = fmt::format("at most {} that cannot", most),
             .found = faults.back().reason,
             .hint = "Allow more with `max_errors`. In a folder or table, `stoker doctor` finds "
                     "all of them"}),
      faults_(std::move(faults)) {}

void Faults::note(std::uint64_t batch, SampleFault fault) {
  const std::lock_guard lock(mutex_);
  noted_[batch].push_back(std::move(fault));
}

void Faults::collect(std::uint64_t batch) {
  std::vector<SampleFault> found;
  {
    const std::lock_guard lock(mutex_);
    if (noted_.empty()) return;
    const auto node = noted_.extract(batch);
    if (node.empty()) return;
    found = std::move(node.mapped());
  }
  std::sort(found.begin(), found.end(), [](const SampleFault& a, const SampleFault& b) {
    return a.place.position < b.place.position;
  });
  for (SampleFault& fault : found) {
    samples_.insert(fault.index);
    collected_.push_back(std::move(fault));
    if (samples_.size() > most_) throw TooManyFaults(collected_, most_);
  }
}

std::string faults_as_csv(const std::vector<SampleFault>& faults) {
  std::string text = "sample,reason,epoch,position\n";
  for (const SampleFault& fault : faults) {
    text += fmt::format("{},{},{},{}\n", quoted(fault.name), quoted(fault.reason),
                        fault.place.epoch + 1, fault.place.position);
  }
  return text;
}

}  // namespace stoker
