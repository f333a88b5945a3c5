// `stoker preview`: a contact sheet of originals beside augmented versions.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/data_flags.h"
#include "stoker/core/error.h"
#include "stoker/data/order/sampler.h"
#include "stoker/image/png.h"
#include "stoker/report/contact_sheet.h"

namespace stoker {
namespace {

struct PreviewFlags {
  DataFlags data;
  int count = 10;
  int versions = 8;
  std::string output = "preview.png";
};

// Samples in the seed's order, sorted by class: as many of each class as of the others, as far as
// that goes.
std::vector<std::uint64_t> choose_samples(const Source& source, const PreviewFlags& flags) {
  auto order = EpochOrder(source, flags.data.seed, true).reader();
  const std::uint64_t wanted = std::min<std::uint64_t>(flags.count, source.size());
  std::vector<std::vector<std::uint64_t>> by_class(
      std::max<std::size_t>(1, source.class_names().size()));
  SampleBuffer buffer;
  // Bounded: a class may be rare in a large data set.
  const std::uint64_t looks = std::min<std::uint64_t>(source.size(), 20'000);
  const std::size_t enough = (wanted + by_class.size() - 1) / by_class.size();
  std::size_t lacking = by_class.size();  // classes with fewer than enough
  for (std::uint64_t i = 0; i < looks && lacking > 0; ++i) {
    const std::uint64_t index = order.sample_at(0, i);
    const std::int64_t label = source.label(index, buffer).value();
    auto& list = by_class.at(static_cast<std::size_t>(std::max<std::int64_t>(0, label)));
    if (list.size() < wanted) list.push_back(index);
    if (list.size() == enough && list.back() == index) --lacking;
  }
  // One of each class in turn, until there are enough.
  std::uint64_t found = 0;
  std::vector<std::size_t> taken(by_class.size());
  for (std::size_t round = 0; round < wanted && found < wanted; ++round) {
    for (std::size_t c = 0; c < by_class.size() && found < wanted; ++c) {
      if (round >= by_class[c].size()) continue;
      ++taken[c];
      ++found;
    }
  }
  std::vector<std::uint64_t> chosen;
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    chosen.insert(chosen.end(), by_class[c].begin(),
                  by_class[c].begin() + static_cast<std::ptrdiff_t>(taken[c]));
  }
  return chosen;
}

// What stands at the left: the picture as it is, or as much of its middle as the samples show.
Image original(const Source& source, const Policy& policy, std::uint64_t index) {
  SampleBuffer buffer;
  if (policy.framing() == nullptr) return Image(source.read(index, buffer).value().image);
  const int side = std::min(policy.framing()->output_width(), policy.framing()->output_height());
  const Policy middle = Policy::parse(fmt::format("resize_crop({},{})", side, side));
  return Image(
      source.read_framed(index, {.framing = middle.framing(), .key = {}}, buffer).value().image);
}

ContactRow make_row(const Source& source, const Policy& policy, std::uint64_t index,
                    const PreviewFlags& flags) {
  SampleBuffer buffer;
  const std::int64_t label = source.label(index, buffer).value();
  ContactRow row{.label = label < 0 ? "" : source.class_names().at(static_cast<std::size_t>(label)),
                 .images = {original(source, policy, index)}};
  // Version v is what training would see in epoch v.
  for (int version = 0; version < flags.versions; ++version) {
    const SampleKey key{
        .seed = flags.data.seed, .epoch = static_cast<std::uint32_t>(version), .sample = index};
    const Sample sample =
        source.read_framed(index, {.framing = policy.framing(), .key = key}, buffer).value();
    row.images.push_back(policy.apply(sample.image, key));
  }
  return row;
}

void run(const PreviewFlags& flags) {
  const auto source = flags.data.open();
  const Policy policy = flags.data.parse_policy();
  std::vector<ContactRow> rows;
  for (const std::uint64_t index : choose_samples(*source, flags)) {
    rows.push_back(make_row(*source, policy, index, flags));
  }
  const std::string title = fmt::format("{} ({}), {}", flags.data.data, flags.data.split,
                                        policy.text().empty() ? "none" : policy.text());
  write_png(flags.output, contact_sheet(rows, {.title = title}).view());
  fmt::print("{}: {} samples, {} versions each, of {} in {}\n", flags.output, rows.size(),
             flags.versions, source->size(), flags.data.data);
}

}  // namespace

void add_preview_command(const Command& parent) {
  const Command command =
      parent.add_command("preview", "Write a picture of originals beside their augmented versions");
  auto flags = std::make_shared<PreviewFlags>();
  flags->data.policy = "mnist";
  flags->data.add_to(command);
  command.add_option("-n,--count", flags->count, "how many samples (rows)").between(1, 1000);
  command.add_option("--versions", flags->versions, "augmented versions of each").between(1, 100);
  command.add_option("-o,--output", flags->output, "the PNG file to write");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
