#include "stoker/run/choose_settings.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/common_shape.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/nn/graph/exported_facts.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/networks/weights_architecture.h"
#include "stoker/nn/timm/timm_folder.h"
#include "stoker/run/recipes.h"

namespace stoker {
namespace {

constexpr int kSmallSide = 64;     // up to here a small network sees all of an image
constexpr int kDefaultSize = 224;  // of photographs, as published weights were trained
constexpr double kLionBeta2 = 0.99;

struct Choice {
  std::string model, recipe, why;
};

Choice choose_network(const RunSettings& run, const std::optional<ImageShape>& shape) {
  if (!run.pretrained.empty()) {
    return {architecture_of_weights(run.pretrained), "finetune",
            fmt::format("that of {}", std::filesystem::path(run.pretrained).filename().string())};
  }
  const int side = run.image_size > 0 ? static_cast<int>(run.image_size)
                   : shape            ? std::max(shape->height, shape->width)
                                      : kDefaultSize;
  if (side <= kSmallSide) {
    return {"cnn:small", "small-images", fmt::format("for images of up to {0}x{0}", kSmallSide)};
  }
  return {"resnet18", "from-scratch",
          "for photographs; with `pretrained` weights far fewer images suffice"};
}

// Lion's: 3 to 10 times lower than AdamW's (Chen et al., 2023).
double default_rate(const RunSettings& run) {
  const bool is_adaptive =
      run.optimiser.kind == OptimiserKind::kAdam || run.optimiser.kind == OptimiserKind::kAdamW;
  const bool all_pretrained = !run.pretrained.empty() && !run.freeze.all;
  if (run.optimiser.kind == OptimiserKind::kLion) return all_pretrained ? 0.00003 : 0.0001;
  if (is_adaptive) return all_pretrained ? 0.0003 : 0.001;
  return all_pretrained ? 0.01 : 0.1;
}

// What timm's config.json says of the pretrained weights, as if it had been given: a recipe does
// not change it.
void take_timm_settings(RunSettings& run, GivenSettings& given, const TimmFolder& timm,
                        std::vector<std::string>& notes) {
  const TimmConfig& config = timm.config;
  if (!given.contains("mean") && !given.contains("std")) {
    run.normalise.mean.assign(config.mean.begin(), config.mean.end());
    run.normalise.deviation.assign(config.deviation.begin(), config.deviation.end());
    given.insert({"mean", "std"});
    notes.push_back(fmt::format("mean {} and std {}, those of the pretrained weights",
                                fmt::join(config.mean, ","), fmt::join(config.deviation, ",")));
  }
  const Policy policy = Policy::parse(run.policy);
  const FramingOperation* framing = policy.framing();
  if (config.image[1] != config.image[2]) return;
  if (run.image_size == 0 && framing == nullptr) {
    run.image_size = static_cast<std::uint32_t>(config.image[1]);
    notes.push_back(fmt::format("image size {}, that of the pretrained weights", run.image_size));
  }
  // Where training sees whole images, validation does too.
  const bool crops = framing == nullptr || policy.text().starts_with("random_resized_crop");
  if (run.validation_policy != "auto" || given.contains("val-aa") || !crops) return;
  run.validation_policy = timm_framing(timm);
  if (framing != nullptr) {
    run.validation_policy = policy_of_size(run.validation_policy, framing->output_height(), true);
  }
  given.insert("val-aa");
  notes.push_back(fmt::format("validation with {}, as the pretrained weights were evaluated",
                              run.validation_policy));
}

void choose_size(RunSettings& run, const std::optional<ImageShape>& shape,
                 std::vector<std::string>& notes) {
  const bool has_size = Policy::parse(run.policy).framing() != nullptr;
  const ExportedFacts exported =
      is_exported_network(run.model) ? read_exported_facts(run.model) : ExportedFacts{};
  if (run.image_size == 0 && !has_size && exported.height > 0 &&
      exported.height == exported.width &&
      (!shape || shape->height != exported.height || shape->width != exported.width)) {
    run.image_size = static_cast<std::uint32_t>(exported.height);
    notes.push_back(
        fmt::format("image size {}, for which {} was exported", run.image_size, exported.name));
  }
  if (run.image_size == 0 && (shape || has_size)) return;
  if (run.image_size == 0) {
    run.image_size = kDefaultSize;
    notes.push_back(fmt::format("image size {}, because the images differ in size", kDefaultSize));
  }
  const int size = static_cast<int>(run.image_size);
  run.policy = policy_of_size(run.policy, size, /*differ=*/!shape);
  if (run.validation_policy != "auto") {
    run.validation_policy = policy_of_size(run.validation_policy, size, !shape);
  }
}

// A recipe's validation follows the size of training images that the user chose.
void follow_size(RunSettings& run, const GivenSettings& given, std::vector<std::string>& notes) {
  if (run.recipe.empty() || !given.contains("aa")) return;
  if (run.validation_policy != recipe_setting(run.recipe, "val-aa")) return;
  const Policy train = Policy::parse(run.policy), validation = Policy::parse(run.validation_policy);
  const FramingOperation *wanted = train.framing(), *found = validation.framing();
  if (wanted == nullptr || found == nullptr || wanted->output_height() != wanted->output_width() ||
      wanted->output_height() == found->output_height()) {
    return;
  }
  run.validation_policy =
      policy_of_size(run.validation_policy, wanted->output_height(), /*differ=*/true);
  notes.push_back(fmt::format("validation with {}, the size of training", run.validation_policy));
}

// Recipes are for long runs: `epochs` 1 must not need a second setting.
void shorten_warmup(RunSettings& run, std::vector<std::string>& notes) {
  double& warmup = run.train.schedule.warmup_epochs;
  const auto epochs = static_cast<double>(run.train.feed.epochs);
  if (run.recipe.empty() || warmup < epochs) return;
  if (fmt::format("{}", warmup) != recipe_setting(run.recipe, "warmup-epochs")) return;
  constexpr double kWarmupFraction = 0.1;
  warmup = kWarmupFraction * epochs;
  notes.push_back(
      fmt::format("warm-up of {} epochs, because the recipe's is as long as the run", warmup));
}

// What the data has decides; a task that was given must be that.
void choose_task(RunSettings& run, const Source& train, std::vector<std::string>& notes) {
  const Task task = task_of(train);
  if (run.task != "auto" && parse_task(run.task) != task) {
    throw Error({.what = "the data does not fit the task",
                 .path = run.data,
                 .expected = fmt::format("`task` {}", name_of(task)),
                 .found = run.task,
                 .hint = "A table has several classes per image with `labels`, and numbers with "
                         "`target`"});
  }
  if (task != Task::kClassify && run.task == "auto") {
    notes.push_back(fmt::format("task {}, because the data has {}", name_of(task),
                                task == Task::kRegress ? "targets" : "several classes per image"));
  }
  run.task = name_of(task);
  if (!run.auto_loss) return;
  run.train.loss = default_loss(task);
  run.auto_loss = false;
}

}  // namespace

std::string policy_of_size(const std::string& policy, int size, bool differ) {
  const Policy parsed = Policy::parse(policy);
  const std::string& text = parsed.text();
  const FramingOperation* framing = parsed.framing();
  // As it is: a resumed run has the size already, and must keep its words.
  if (framing != nullptr && framing->output_height() == size && framing->output_width() == size) {
    return policy;
  }
  if (framing == nullptr) {
    const std::string first = differ ? fmt::format("random_resized_crop({})", size)
                                     : fmt::format("resize({0},{0})", size);
    return text.empty() ? first : first + "," + text;
  }
  const std::size_t open = text.find('('), close = text.find(')', open);
  const std::string name = text.substr(0, open), rest = text.substr(close);
  const std::string arguments = text.substr(open + 1, close - open - 1);
  const std::size_t second = arguments.find(','), third = arguments.find(',', second + 1);
  const std::string filter = third == std::string::npos ? "" : arguments.substr(third);
  if (name == "resize") return fmt::format("resize({0},{0}{1}{2}", size, filter, rest);
  if (name == "resize_crop") {
    const int whole = std::stoi(arguments), part = framing->output_height();
    return fmt::format("resize_crop({},{}{}{}", size * whole / part, size, filter, rest);
  }
  if (name == "random_resized_crop") {
    const std::size_t comma = arguments.find(',');
    const std::string others = comma == std::string::npos ? "" : arguments.substr(comma);
    return fmt::format("random_resized_crop({}{}{}", size, others, rest);
  }
  throw OptionError(
      {.what = "`img_size` does not fit",
       .expected = "a policy that begins with resize, resize_crop or random_resized_crop",
       .found = name,
       .hint = "Give the size in `aa` and `val_aa` instead"});
}

std::vector<std::string> choose_settings(RunSettings& run, GivenSettings& given,
                                         const TrainingParts& parts) {
  std::vector<std::string> notes;
  choose_task(run, *parts.train, notes);
  const std::optional<ImageShape> shape = common_shape(*parts.train);
  if (const auto timm = run.pretrained.empty() ? std::nullopt : timm_folder_of(run.pretrained)) {
    take_timm_settings(run, given, *timm, notes);
  }
  if (run.model.empty()) {
    const Choice choice = choose_network(run, shape);
    run.model = choice.model;
    notes.push_back(fmt::format("network {}, {}", choice.model, choice.why));
    if (run.recipe.empty()) {
      run.recipe = choice.recipe;
      apply_recipe(settings_of(run), given, run.recipe);
      notes.push_back(fmt::format("recipe {}: {}", run.recipe, recipe_summary(run.recipe)));
    }
  }
  choose_size(run, shape, notes);
  follow_size(run, given, notes);
  shorten_warmup(run, notes);
  if (!given.contains("lr")) {
    const double rate = default_rate(run);
    if (rate != run.train.schedule.lr) {
      run.train.schedule.lr = rate;
      notes.push_back(fmt::format("learning rate {}, the default for {}{}", rate,
                                  optimiser_names()[static_cast<std::size_t>(run.optimiser.kind)],
                                  run.pretrained.empty() ? "" : " and pretrained weights"));
    }
  }
  if (run.optimiser.kind == OptimiserKind::kLion && !given.contains("beta2")) {
    run.optimiser.beta2 = kLionBeta2;
  }
  return notes;
}

}  // namespace stoker
