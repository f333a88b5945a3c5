#include "stoker/run/run_settings.h"

#include <charconv>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/data/data_settings.h"
#include "stoker/run/run_folder.h"

namespace stoker {
namespace {

void require_given(const std::string& value, const char* setting, const std::string& example) {
  if (!value.empty()) return;
  throw OptionError({.what = fmt::format("`{}` is missing", setting),
                     .expected = example,
                     .hint = "Give it on the command line or in a `config` file"});
}

std::string yaml_of(const RunSettings& settings,
                    const std::function<bool(const Setting&)>& wanted) {
  RunSettings copy = settings;  // a list refers to an object that could be changed
  return to_yaml(values_of(settings_of(copy), [&](const Setting& setting) {
    return wanted(setting) && settings.validation.is_recorded(setting.name);
  }));
}

void check_average(const RunSettings& run) {
  const std::uint32_t start = run.average_options.equal_from;
  if (start == 0) return;
  if (run.average) {
    throw OptionError({.what = "there can be only one average of the weights",
                       .expected = "`model_ema` or `swa_start`",
                       .found = "both"});
  }
  if (start < run.train.feed.epochs) return;
  throw OptionError({.what = "`swa_start` does not fit",
                     .expected = fmt::format("an epoch below `epochs` {}", run.train.feed.epochs),
                     .found = fmt::format("{}", start)});
}

}  // namespace

std::size_t FrozenStages::count(std::size_t stages) const {
  if (all) return stages - 1;
  if (first < stages) return first;
  throw OptionError(
      {.what = "`freeze` does not fit",
       .expected = fmt::format("all, none, or a number of stages, at most {}", stages - 1),
       .found = fmt::format("\"{}\"", first)});
}

SettingText FrozenStages::text() {
  return {.read = [this] { return all          ? "all"
                                  : first == 0 ? "none"
                                               : fmt::format("{}", first); },
          .write =
              [this](const std::string& text) {
                std::uint32_t number = 0;
                const char* end = text.data() + text.size();
                const auto read = std::from_chars(text.data(), end, number);
                const bool is_number = read.ec == std::errc{} && read.ptr == end;
                if (!is_number && text != "all" && text != "none") {
                  refuse_value("all, none, or a number of stages", fmt::format("\"{}\"", text));
                }
                all = text == "all";
                first = is_number ? number : 0;
              },
          .type = "all, none or a number"};
}

void RunSettings::resolve() {
  require_given(data, "data", fmt::format("a dataset, e.g. `data` {}", known_data_names().front()));
  validation.check();
  check_average(*this);
  static_cast<void>(RunFolder::path_of(output, experiment));
  if (teacher.empty() && train.distill != DistillOptions{}) {
    throw OptionError({.what = "there is nothing to distill",
                       .expected = "`teacher` with a model file or a run's folder",
                       .found = "none"});
  }
  train.cached_views = cached_features ? cached_views : 0;
  train.shared_statistics = ranks.sync_bn;
}

AverageOptions RunSettings::averaging() const {
  if (average) return {.decay = average_options.decay, .warmup = average_options.warmup};
  return {.equal_from = average_options.equal_from};
}

std::string RunSettings::precision() const {
  if (amp != MixedPrecision::kOn) return "float32";
  return amp_float16 ? "float16" : "bfloat16";
}

std::string RunSettings::lr_text() const {
  return auto_lr ? "auto" : fmt::format("{}", train.schedule.lr);
}

Preprocessing RunSettings::preprocessing() const {
  return {.mean = normalise.means(),
          .deviation = normalise.deviations(),
          .framing = resolved_validation_policy().text(),
          .window = window_text(images.window)};
}

Policy RunSettings::resolved_validation_policy() const {
  if (validation_policy != "auto") return Policy::parse(validation_policy);
  const Policy training = Policy::parse(policy);
  if (training.framing() == nullptr) return {};
  // Whole images stay whole; only a random part has a middle that stands for it.
  const std::string& text = training.text();
  if (text.starts_with("resize(") || text.starts_with("resize_crop(")) {
    return Policy::parse(text.substr(0, text.find(')') + 1));
  }
  const int height = training.framing()->output_height();
  const int width = training.framing()->output_width();
  if (height != width) return Policy::parse(fmt::format("resize({},{})", height, width));
  return Policy::parse(fmt::format("resize_crop({},{})", height * 8 / 7, height));
}

std::string recorded_yaml(const RunSettings& settings) {
  return yaml_of(settings,
                 [](const Setting& setting) { return setting.scope != SettingScope::kProcess; });
}

std::string identity_yaml(const RunSettings& settings) {
  return yaml_of(settings,
                 [](const Setting& setting) { return setting.scope == SettingScope::kResult; });
}

std::string default_yaml() {
  return yaml_of({}, [](const Setting&) { return true; });
}

}  // namespace stoker
