#include "stoker/cli/foreign_flags.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace stoker {
namespace {

struct Pair {
  std::string_view foreign, ours;
};

// Flags with the same meaning; the first of ours that a command has is taken.
constexpr std::array kSpellings = {
    Pair{"accumulate", "grad-accum-steps"},
    Pair{"arch", "model"},
    Pair{"auto-augment", "aa"},
    Pair{"batch", "batch-size"},
    Pair{"bs", "batch-size"},
    Pair{"checkpoint", "weights"},
    Pair{"clip-grad-norm", "clip-grad"},
    Pair{"cutmix-alpha", "cutmix"},
    Pair{"data-dir", "data"},
    Pair{"data-path", "data"},
    Pair{"distillation-alpha", "distill-alpha"},
    Pair{"distillation-tau", "distill-temperature"},
    Pair{"distillation-type", "distill"},
    Pair{"early-stopping", "patience"},
    Pair{"ema", "model-ema"},
    Pair{"ema-decay", "model-ema-decay"},
    Pair{"gradient-accumulation-steps", "grad-accum-steps"},
    Pair{"image-size", "img-size"},
    Pair{"imgsz", "img-size"},
    Pair{"initial-checkpoint", "pretrained"},
    Pair{"label-smoothing", "smoothing"},
    Pair{"learning-rate", "lr"},
    Pair{"lr-scheduler", "sched"},
    Pair{"lr-warmup-epochs", "warmup-epochs"},
    Pair{"lr0", "lr"},
    Pair{"mixup-alpha", "mixup"},
    Pair{"model-path", "weights"},
    Pair{"name", "experiment"},
    Pair{"num-workers", "workers"},
    Pair{"optim", "opt"},
    Pair{"optimizer", "opt"},
    Pair{"out", "output"},
    Pair{"output", "out"},  // also the former name in `preview` and `plot`
    Pair{"output-dir", "output"},
    Pair{"project", "output"},
    Pair{"random-seed", "seed"},
    Pair{"scheduler", "sched"},
    Pair{"source", "data"},
    Pair{"teacher-path", "teacher"},
    Pair{"use-amp", "amp"},
    Pair{"wd", "weight-decay"},
};

constexpr std::array kAdvice = {
    Pair{"bce-loss", "--loss bce"},
    Pair{"cache", "shards are cached with --cache-dir; decoded images are not"},
    Pair{"channels-last", "the memory layout is chosen by the network; remove the flag"},
    Pair{"color-jitter", "colour_jitter in --aa (`stoker ops` lists all operations)"},
    Pair{"cos-lr", "--sched cosine"},
    Pair{"crop-pct", "validation preprocessing is --val-aa, for example resize_crop(256,224)"},
    Pair{"dataset", "name the data itself: a folder, mnist, or s3://bucket/prefix"},
    Pair{"degrees", "rotate(-N,N) in --aa"},
    Pair{"drop",
         "no network here takes a dropout rate; --mixup, --cutmix and --smoothing "
         "regularise"},
    Pair{"dropout",
         "no network here takes a dropout rate; --mixup, --cutmix and --smoothing "
         "regularise"},
    Pair{"erasing", "erase in --aa (`stoker ops` lists all operations)"},
    Pair{"fliplr", "hflip(0.5) in --aa"},
    Pair{"flipud", "vflip(0.5) in --aa"},
    Pair{"hflip", "hflip(0.5) in --aa"},
    Pair{"hsv-h", "hue in --aa (`stoker ops` lists all operations)"},
    Pair{"hsv-s", "saturation in --aa (`stoker ops` lists all operations)"},
    Pair{"hsv-v", "brightness in --aa (`stoker ops` lists all operations)"},
    Pair{"in-chans", "--channels N; a network's number of channels follows from the data"},
    Pair{"input-size", "--img-size N; the number of channels follows from the data"},
    Pair{"interpolation", "images are resized with antialiasing, bilinear; remove the flag"},
    Pair{"log-interval", "the progress bar and log.jsonl have every step; remove the flag"},
    Pair{"log-wandb", "train, then run `stoker log RUN --to wandb`"},
    Pair{"lrf", "--min-lr sets the last learning rate, as a number"},
    Pair{"nbs", "the learning rate is not scaled by the batch size; remove the flag"},
    Pair{"no-aug", "--aa none"},
    Pair{"num-classes", "the number of classes follows from the data; remove the flag"},
    Pair{"pin-mem", "memory is pinned where the device is a GPU; remove the flag"},
    Pair{"ratio", "random_resized_crop(SIZE,AREA_LOW,AREA_HIGH,RATIO_LOW,RATIO_HIGH) in --aa"},
    Pair{"reprob", "erase in --aa (`stoker ops` lists all operations)"},
    Pair{"save-period", "--checkpoint-every"},
    Pair{"scale", "random_resized_crop(SIZE,AREA_LOW,AREA_HIGH) in --aa"},
    Pair{"torchcompile", "networks are not compiled; remove the flag"},
    Pair{"train-split", "`data` may have train/, val/ and test/; else see --val-fraction"},
    Pair{"val", "validation follows every epoch; remove the flag"},
    Pair{"vflip", "vflip(0.5) in --aa"},
};

// Values that a flag may be given with; without one of them it means the first.
struct OptionalValue {
  std::string_view flag;
  std::array<std::string_view, 5> values;
};
constexpr OptionalValue kAmp = {"--amp", {"on", "off", "auto", "true", "false"}};

std::string_view find(std::span<const Pair> pairs, std::string_view foreign) {
  const auto found = std::ranges::find(pairs, foreign, &Pair::foreign);
  return found == pairs.end() ? std::string_view() : found->ours;
}

bool has_flag(const CommandInfo& command, const std::string& name) {
  return std::ranges::any_of(command.flags, [&](const FlagInfo& flag) {
    return std::ranges::find(flag.names, "--" + name) != flag.names.end();
  });
}

// Our name of a flag (without dashes); empty where the command has none.
std::string own_name(const CommandInfo& command, std::string name) {
  if (has_flag(command, name)) return name;
  std::ranges::replace(name, '_', '-');
  if (has_flag(command, name)) return name;
  const std::string ours(find(kSpellings, name));
  return !ours.empty() && has_flag(command, ours) ? ours : "";
}

// "--wd=0.1" or, where `bare`, "wd=0.1".
std::string translated(const CommandInfo& command, const std::string& word, bool bare) {
  const std::size_t begin = bare ? 0 : 2, equals = word.find('=');
  const std::string name = own_name(command, word.substr(begin, equals - begin));
  if (name.empty()) return word;
  return "--" + name + (equals == std::string::npos ? "" : word.substr(equals));
}

// "imgsz=224": a name that could be a flag, then a value. Paths have none such before a "=".
bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// "--amp auto" is one word, "--amp data/" is "--amp=on data/".
void join_optional_value(std::vector<std::string>& words, std::size_t place) {
  if (words[place] != kAmp.flag) return;
  const bool has_value = place + 1 < words.size() &&
                         std::ranges::find(kAmp.values, words[place + 1]) != kAmp.values.end();
  words[place] += "=" + (has_value ? words[place + 1] : std::string(kAmp.values.front()));
  if (has_value) words.erase(words.begin() + static_cast<std::ptrdiff_t>(place) + 1);
}

}  // namespace

std::vector<std::string> in_own_spelling(const CommandInfo& program,
                                         std::vector<std::string> words) {
  if (words.empty()) return words;
  const auto command = std::ranges::find(program.commands, words.front(), &CommandInfo::name);
  if (command == program.commands.end() || !command->commands.empty()) return words;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const bool bare = !words[i].starts_with("-") && is_assignment(words[i]);
    // The value of a flag before it is none of ours to read.
    const bool is_value =
        bare && words[i - 1].starts_with("--") && words[i - 1].find('=') == std::string::npos;
    if (words[i].starts_with("--") || (bare && !is_value)) {
      words[i] = translated(*command, words[i], bare);
    }
    if (has_flag(*command, "amp")) join_optional_value(words, i);
  }
  return words;
}

std::string advice_on_flag(const std::string& flag) {
  std::string name = flag.substr(std::min(flag.size(), flag.find_first_not_of('-')));
  std::ranges::replace(name, '_', '-');
  return std::string(find(kAdvice, name));
}

}  // namespace stoker
