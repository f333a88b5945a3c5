#include "stoker/run/run_data.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/identity_difference.h"
#include "stoker/data/identity_file.h"
#include "stoker/run/run_facts.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kChanges = "data_changes";

// A change from this digest to that one was accepted before.
bool is_recorded(const Json& changes, const std::string& from, const std::string& to) {
  if (!changes.is_array()) return false;
  return std::ranges::any_of(changes, [&](const Json& change) {
    return change.is_object() && change.contains("from") && change["from"] == from &&
           change.contains("to") && change["to"] == to;
  });
}

void record(RunFacts& facts, const ResumedData& resumed, const std::string& difference,
            const std::string& from, const std::string& to) {
  Json& changes = facts[kChanges];
  if (!changes.is_array()) changes = Json::array();
  changes.push_back({{"time", utc_time()},
                     {"step", resumed.step},
                     {"difference", difference},
                     {"from", from},
                     {"to", to}});
  facts.save();
}

[[noreturn]] void refuse(const RunFolder& folder, const std::string& difference) {
  throw Error({.what = "the data has changed since the run was started",
               .path = folder.path().string(),
               .found = difference,
               .hint = "Bring the data back, start a new run, or resume with "
                       "`accept_changed_data`, which is recorded in the run's report."});
}

}  // namespace

void keep_identity(const RunFolder& folder, const DataIdentity& identity) {
  write_identity(folder.path() / kIdentityFile, identity);
}

void check_identity(RunFolder& folder, const DataIdentity& identity, const ResumedData& resumed) {
  const std::string now = identity.digest();
  const auto kept = read_identity(folder.path() / kIdentityFile);
  if (!kept && resumed.saved_digest.empty()) {
    folder.say("data       not compared: this run was started without a record of its data");
    keep_identity(folder, identity);
    return;
  }
  // A checkpoint knows best what its state was trained on.
  const std::string from = resumed.saved_digest.empty() ? kept->digest() : resumed.saved_digest;
  if (from == now) {
    if (!kept || kept->digest() != now) keep_identity(folder, identity);
    return;
  }
  std::string difference = fmt::format(
      "other data ({} is missing or damaged, so the first difference is not known)", kIdentityFile);
  if (kept) {
    difference = first_difference(identity.text(), kept->text(),
                                  {.here = "here", .there = "in the run's data"});
  }
  RunFacts facts(folder.path() / "run.json");
  if (kept && difference.empty()) {  // now as kept, or written by another version
    const bool same_as_kept = kept->digest() == now;
    if (!same_as_kept || is_recorded(facts[kChanges], from, now)) {
      keep_identity(folder, identity);
      return;
    }
    difference = "other data than the checkpoint was made with";
  }
  if (!resumed.accept_changes) refuse(folder, difference);
  record(facts, resumed, difference, from, now);
  folder.say(fmt::format("data       changed, accepted at step {}: {}", resumed.step, difference));
  keep_identity(folder, identity);
}

}  // namespace stoker
