// `stoker preview`: a contact sheet of originals beside augmented versions.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/data_flags.h"
#include "stoker/cli/output_files.h"
#include "stoker/core/error.h"
#include "stoker/data/order/sampler.h"
#include "stoker/data/sources/common_shape.h"
#include "stoker/data/sources/fields_text.h"
#include "stoker/image/png.h"
#include "stoker/report/contact_sheet.h"
#include "stoker/run/run_input.h"

namespace stoker {
namespace {

struct PreviewFlags {
  DataFlags data;
  int count = 10;
  int versions = 8;
  std::string output = "preview.png";
  OutputFiles files;
};

// Samples in the seed's order, sorted by class: as many of each class as of the others, as far as
// that goes.
std::vector<std::uint64_t> choose_samples(const Source& source, std::uint64_t seed, int count) {
  auto order = EpochOrder(source, seed, true).reader();
  const std::uint64_t wanted =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(count), source.size());
  std::vector<std::vector<std::uint64_t>> by_class(
      std::max<std::size_t>(1, source.class_names().size()));
  SampleBuffer buffer;
  // Bounded: a class may be rare in a large dataset.
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

// What stands at the left: the image as it is, or as much of its middle as the samples show.
Image original(const Source& source, const Policy& policy, std::uint64_t index) {
  SampleBuffer buffer;
  if (policy.framing() == nullptr) return narrowed(source.read(index, buffer).value().image);
  const int side = std::min(policy.framing()->output_width(), policy.framing()->output_height());
  const Policy middle = Policy::parse(fmt::format("resize_crop({},{})", side, side));
  return narrowed(
      source.read_framed(index, {.framing = middle.framing(), .key = {}}, buffer).value().image);
}

// The class, several of them, or numbers; empty where the sample has none.
std::string label_text(const Source& source, std::uint64_t index) {
  SampleBuffer buffer;
  const std::int64_t label = source.label(index, buffer).value();
  if (label >= 0) return source.class_names().at(static_cast<std::size_t>(label));
  std::vector<float> numbers(number_count(source.fields()));
  static_cast<void>(source.read_fields(index, numbers).value());
  return fields_text(source.fields(), numbers);
}

ContactRow make_row(const Source& source, const Policy& policy, std::uint64_t index,
                    std::uint64_t seed, int versions) {
  SampleBuffer buffer;
  ContactRow row{.label = label_text(source, index), .images = {original(source, policy, index)}};
  // Version v is what training would see in epoch v.
  for (int version = 0; version < versions; ++version) {
    const SampleKey key{
        .seed = seed, .epoch = static_cast<std::uint32_t>(version), .sample = index};
    const Sample sample =
        source.read_framed(index, {.framing = policy.framing(), .key = key}, buffer).value();
    row.images.push_back(narrowed(policy.apply(sample.image, key).view()));
  }
  return row;
}

struct PreviewInput {
  std::shared_ptr<const Source> source;
  Policy policy;
  std::uint64_t seed = 0;
  std::string title;
};

// Of a run: what it trained on, with its augmentation. Else what the flags say.
PreviewInput open_input(const PreviewFlags& flags) {
  const DataFlags& data = flags.data;
  if (is_run_folder(data.data)) {
    RunInput run = open_run_input(data.data);
    return {.source = std::move(run.train),
            .policy = Policy::parse(data.policy == "auto" ? run.policy : data.policy),
            .seed = run.seed,
            .title = fmt::format("{} of {}", run.data, data.data)};
  }
  PreviewInput input{.source = data.open(),
                     .policy = {},
                     .seed = data.seed,
                     .title = fmt::format("{} ({})", data.data, data.split)};
  const std::string fitting = common_shape(*input.source) ? "shift(-2,2)" : "imagenet-train";
  input.policy = Policy::parse(data.policy == "auto" ? fitting : data.policy);
  return input;
}

void run(const PreviewFlags& flags) {
  flags.files.check({flags.output});
  const PreviewInput input = open_input(flags);
  const std::shared_ptr<const Source>& source = input.source;
  const Policy& policy = input.policy;
  policy.check({1, 1, source->channels(), source->depth()});
  std::vector<ContactRow> rows;
  for (const std::uint64_t index : choose_samples(*source, input.seed, flags.count)) {
    rows.push_back(make_row(*source, policy, index, input.seed, flags.versions));
  }
  const std::string title =
      fmt::format("{}, {}", input.title, policy.text().empty() ? "none" : policy.text());
  write_png(flags.output, contact_sheet(rows, {.title = title}).view());
  fmt::print("{}: {} samples, {} versions each, of {} in {}\n", flags.output, rows.size(),
             flags.versions, source->size(), flags.data.data);
}

}  // namespace

void add_preview_command(const Command& parent) {
  const Command command =
      parent.add_command("preview", "Show images beside their augmented versions");
  auto flags = std::make_shared<PreviewFlags>();
  flags->data.policy = "auto";  // that of a run; else as `train` chooses
  flags->data.needs_labels = false;
  flags->data.add_to(command);
  command.add_option("-n,--count", flags->count, "how many samples (rows)").between(1, 1000);
  command.add_option("--versions", flags->versions, "augmented versions of each").between(1, 100);
  command.add_option("-o,--out", flags->output, "the PNG file to write");
  flags->files.add_to(command);
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
