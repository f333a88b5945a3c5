#include "stoker/run/recipes.h"

#include "stoker/core/suggest.h"
#include "stoker/run/settings_file.h"

namespace stoker {
namespace {

// What both recipes of the course project share.
const std::string kPlates =
    "aa: plates\n"
    "val-aa: plates-eval\n"
    "val-every: 6\n"
    "batch-size: 8\n"
    "epochs: 100\n"
    "opt: adam\n"
    "lr: 0.001\n"
    "sched: step\n"
    "decay-epochs: 7\n"
    "decay-rate: 0.1\n"
    "freeze: all\n";

const Recipe& find_recipe(const std::string& name) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return recipes()[place_of_name(name, names, "recipe")];
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {"plates",
       "the course project to the letter: all but the head frozen, Adam, batches of 8. The rate "
       "falls by 0.1 after 6 epochs, then every 7. Batch norms are in training mode",
       kPlates + "decay-first-epochs: 6\n"
                 "freeze-norms: false\n"
                 "exact-decode: true\n"},
      {"plates-fast",
       "the same with frozen batch norms, so that features of validation images are computed once, "
       "and the rate times 0.1 every 7 epochs",
       kPlates},
      {"finetune", "all of a pretrained network, with AdamW and a cosine",
       "aa: imagenet-train\n"
       "val-aa: imagenet-eval\n"
       "batch-size: 32\n"
       "epochs: 20\n"
       "opt: adamw\n"
       "lr: 0.0003\n"
       "weight-decay: 0.05\n"
       "sched: cosine\n"
       "warmup-epochs: 1\n"
       "smoothing: 0.1\n"
       "layer-decay: 0.75\n"
       "model-ema: true\n"
       "model-ema-decay: 0.99\n"
       "model-ema-warmup: true\n"},
      {"from-scratch", "a new network on many images, with SGD, TrivialAugment and Mixup",
       "aa: random_resized_crop(224),hflip(0.5),trivialaugment,erase(0.1)\n"
       "val-aa: imagenet-eval\n"
       "batch-size: 128\n"
       "epochs: 90\n"
       "opt: sgd\n"
       "lr: 0.05\n"
       "weight-decay: 0.0001\n"
       "sched: cosine\n"
       "warmup-epochs: 5\n"
       "smoothing: 0.1\n"
       "mixup: 0.2\n"},
      {"small-images", "a small network on small images, with AdamW and shifts by two pixels",
       "aa: shift(-2,2)\n"
       "batch-size: 128\n"
       "epochs: 5\n"
       "opt: adamw\n"
       "lr: 0.002\n"
       "weight-decay: 0.05\n"
       "sched: cosine\n"},
  };
  return all;
}

const std::string& recipe_summary(const std::string& name) { return find_recipe(name).summary; }

void apply_recipe(std::span<const Setting> settings, GivenSettings& given,
                  const std::string& name) {
  const Recipe& recipe = find_recipe(name);
  apply_settings_text(settings, given, recipe.settings, "recipe " + recipe.name);
}

}  // namespace stoker
