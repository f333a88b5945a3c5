// Images that are the same, or almost: within a part, across parts, under two labels.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/doctor/detail/doctor_checks.h"
#include "stoker/doctor/hamming_index.h"

namespace stoker::detail {
namespace {

using Group = std::vector<std::size_t>;  // places in Diagnosis::images, ascending

// What a group is reported as.
struct GroupKinds {
  FindingKind two_labels, leak, neither;
  bool exact;
};
constexpr GroupKinds kExact{FindingKind::kTwoLabels, FindingKind::kLeak, FindingKind::kDuplicate,
                            true};
constexpr GroupKinds kNear{FindingKind::kNearTwoLabels, FindingKind::kNearLeak,
                           FindingKind::kNearDuplicate, false};

std::vector<std::string> sorted_paths(const Diagnosis& diagnosis, const Group& group) {
  std::vector<std::string> paths;
  for (const std::size_t i : group) paths.push_back(diagnosis.images[i].path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A group is a finding for each thing that is wrong with it, or one where only space is wasted.
void report_group(const Diagnosis& diagnosis, const Group& group, const GroupKinds& kinds,
                  const std::string& how, Findings& out) {
  std::set<std::string> labels, parts;
  for (const std::size_t i : group) {
    const ExaminedImage& image = diagnosis.images[i];
    if (image.label != kNoClass) labels.emplace(class_name_of(diagnosis, image));
    // Numbers change with what is seen: only the same image must have the same.
    if (!image.values.empty() && (kinds.exact || !diagnosis.has_numbers)) {
      labels.insert(image.values);
    }
    parts.insert(diagnosis.parts[image.part].name);
  }
  const auto add = [&](FindingKind kind, std::string detail) {
    out.push_back({kind, sorted_paths(diagnosis, group), std::move(detail)});
  };
  if (labels.size() > 1) {
    add(kinds.two_labels, fmt::format("{}, labelled {}", how, fmt::join(labels, " and ")));
  }
  if (parts.size() > 1) add(kinds.leak, fmt::format("{}, in {}", how, fmt::join(parts, " and ")));
  if (labels.size() <= 1 && parts.size() <= 1) add(kinds.neither, how);
}

// Decoded images with the same pixels, each set once, in the order of its first image.
std::vector<Group> groups_of_equal_pixels(const Diagnosis& diagnosis) {
  std::vector<Group> groups;
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < diagnosis.images.size(); ++i) {
    const std::string& digest = diagnosis.images[i].facts.pixel_digest;
    if (digest.empty()) continue;
    const auto [at, is_new] = place.try_emplace(digest, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(i);
  }
  return groups;
}

bool same_bytes(const Diagnosis& diagnosis, const Group& group) {
  const std::string& first = diagnosis.images[group.front()].facts.file_digest;
  return std::all_of(group.begin(), group.end(),
                     [&](std::size_t i) { return diagnosis.images[i].facts.file_digest == first; });
}

// Sets that grow together; the smallest member stands for its set.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({find(a), find(b)});
    parent_[high] = low;
  }

 private:
  std::vector<std::size_t> parent_;
};

// Joins the groups of equal pixels whose images look alike.
//
// A search among distinct hashes finds candidates, their sketches decide. Of many images with one
// hash only the first kMostLeaders that differ from each other are compared with others: a set of
// 10^5 frames of the same scene must not cost 10^10 comparisons.
class NearSearch {
 public:
  NearSearch(const Diagnosis& diagnosis, const std::vector<Group>& groups)
      : diagnosis_(diagnosis), groups_(groups), sets_(groups.size()) {}

  void run(const DoctorOptions& options) {
    add_leaders();
    const HammingIndex index(hashes_);
    for (std::size_t h = 0; h < hashes_.size(); ++h) {
      for (const std::uint32_t other : index.within(hashes_[h], options.near_distance)) {
        if (other > h) compare(leaders_[h], leaders_[other], look_alike);
      }
      if (options.mirrored) search_mirrored(index, h, options.near_distance);
    }
  }

  // Sets of at least two groups.
  [[nodiscard]] std::vector<Group> found() {
    std::map<std::size_t, std::vector<std::size_t>> by_set;
    for (std::size_t g = 0; g < groups_.size(); ++g) by_set[sets_.find(g)].push_back(g);
    std::vector<Group> result;
    for (const auto& [set, members] : by_set) {
      if (members.size() < 2) continue;
      Group& images = result.emplace_back();
      for (const std::size_t g : members) {
        images.insert(images.end(), groups_[g].begin(), groups_[g].end());
      }
      std::sort(images.begin(), images.end());
    }
    return result;
  }

 private:
  static constexpr std::size_t kMostLeaders = 16;
  using Leaders = std::vector<std::size_t>;  // places in groups_
  using Compare = bool (*)(const ImageSketch&, const ImageSketch&) noexcept;

  [[nodiscard]] const ImageFacts& facts(std::size_t group) const {
    return diagnosis_.images[groups_[group].front()].facts;
  }

  void add_leaders() {
    std::unordered_map<std::uint64_t, std::size_t> place;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (facts(g).blank) continue;  // all blank images look alike, which says nothing
      const auto [at, is_new] = place.try_emplace(facts(g).sketch.hash, hashes_.size());
      if (is_new) {
        hashes_.push_back(facts(g).sketch.hash);
        leaders_.emplace_back();
      }
      add_leader(leaders_[at->second], g);
    }
  }

  void add_leader(Leaders& leaders, std::size_t group) {
    for (const std::size_t leader : leaders) {
      if (look_alike(facts(leader).sketch, facts(group).sketch)) return sets_.unite(leader, group);
    }
    if (leaders.size() < kMostLeaders) leaders.push_back(group);
  }

  void compare(const Leaders& some, const Leaders& others, Compare alike) {
    for (const std::size_t a : some) {
      for (const std::size_t b : others) {
        if (sets_.find(a) == sets_.find(b)) continue;
        if (alike(facts(a).sketch, facts(b).sketch)) sets_.unite(a, b);
      }
    }
  }

  // A hash's mirror image depends on more than the hash, so each leader is asked for its own.
  void search_mirrored(const HammingIndex& index, std::size_t h, int distance) {
    for (const std::size_t leader : leaders_[h]) {
      for (const std::uint32_t other : index.within(facts(leader).sketch.mirrored_hash, distance)) {
        if (other >= h) compare({leader}, leaders_[other], look_mirrored);
      }
    }
  }

  const Diagnosis& diagnosis_;
  const std::vector<Group>& groups_;
  DisjointSets sets_;                  // of groups
  std::vector<std::uint64_t> hashes_;  // distinct
  std::vector<Leaders> leaders_;       // for each hash
};

}  // namespace

void check_duplicates(const Diagnosis& diagnosis, Findings& out) {
  for (const Group& group : groups_of_equal_pixels(diagnosis)) {
    if (group.size() < 2) continue;
    const std::string how =
        same_bytes(diagnosis, group) ? "the same bytes" : "the same pixels, stored differently";
    report_group(diagnosis, group, kExact, how, out);
  }
}

void check_near_duplicates(const Diagnosis& diagnosis, const DoctorOptions& options,
                           Findings& out) {
  if (options.near_distance < 0) return;
  const std::vector<Group> groups = groups_of_equal_pixels(diagnosis);
  NearSearch search(diagnosis, groups);
  search.run(options);
  for (const Group& group : search.found()) {
    report_group(diagnosis, group, kNear, "look alike", out);
  }
}

}  // namespace stoker::detail
