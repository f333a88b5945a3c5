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

std::vector<Recipe> own_recipes() {
  return {
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
}

// What the recipes for transformers and ConvNeXt share. RandAugment "9/0.5" of the papers is a
// magnitude of 9 with deviation 0.5, two changes; erased boxes are random bytes, as in DeiT's code.
const std::string kStrong =
    "aa: "
    "random_resized_crop(224),hflip(0.5),randaugment(2,9,0.5),erase(0.25,0.02,0.33,0.3,3.3,-1)\n"
    "val-aa: imagenet-eval\n"
    "batch-size: 128\n"
    "opt: adamw\n"
    "sched: cosine\n"
    "smoothing: 0.1\n";
const std::string kMixed =
    "mixup: 0.8\n"
    "cutmix: 1\n"
    "weight-decay: 0.05\n";

// Values and sources: docs/transfer.md.
std::vector<Recipe> recipes_of_papers() {
  return {{"finetune-vit", "all of a pretrained ViT, as MAE's authors fine-tune ViT-B",
           kStrong + kMixed +
               "epochs: 100\n"
               "lr: 0.00025\n"
               "warmup-epochs: 5\n"
               "layer-decay: 0.65\n"},
          {"finetune-convnext", "all of a pretrained ConvNeXt, as its authors fine-tune it",
           kStrong + "epochs: 30\n"
                     "grad-accum-steps: 4\n"
                     "lr: 0.00005\n"
                     "weight-decay: 0.00000001\n"
                     "layer-decay: 0.8\n"},
          {"from-scratch-vit", "a new ViT on very many images, as DeiT",
           kStrong + kMixed +
               "epochs: 300\n"
               "grad-accum-steps: 8\n"
               "lr: 0.001\n"
               "warmup-epochs: 5\n"},
          {"from-scratch-convnext", "a new ConvNeXt on very many images, as its authors train it",
           kStrong + kMixed +
               "epochs: 300\n"
               "grad-accum-steps: 32\n"
               "lr: 0.004\n"
               "warmup-epochs: 20\n"
               "model-ema: true\n"
               "model-ema-decay: 0.9999\n"}};
}

const Recipe& find_recipe(const std::string& name) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return recipes()[place_of_name(name, names, "recipe")];
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> list = own_recipes();
    const std::vector<Recipe> more = recipes_of_papers();
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

const std::string& recipe_summary(const std::string& name) { return find_recipe(name).summary; }

std::string recipe_setting(const std::string& name, const std::string& setting) {
  const std::string text = "\n" + std::string(find_recipe(name).settings),
                    key = "\n" + setting + ": ";
  const std::size_t found = text.find(key);
  if (found == std::string::npos) return "";
  const std::size_t first = found + key.size();
  return text.substr(first, text.find('\n', first) - first);
}

void apply_recipe(std::span<const Setting> settings, GivenSettings& given,
                  const std::string& name) {
  const Recipe& recipe = find_recipe(name);
  apply_settings_text(settings, given, recipe.settings, "recipe " + recipe.name);
}

}  // namespace stoker
