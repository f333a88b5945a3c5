// Trains the last layer of a pretrained network on other classes, by a recipe.
//
//   finetune_example plates/ resnet18.safetensors runs/
#include <cstdio>
#include <exception>

#include <stoker/train.h>

namespace {

void finetune(const char* data, const char* weights, const char* output) {
  stoker::RunSettings settings;
  settings.data = data;
  settings.model = "resnet18";
  settings.pretrained = weights;
  settings.recipe = "plates-fast";  // sets what is not set here
  settings.train.feed.epochs = 1;
  settings.output = output;
  settings.experiment = "finetuned";
  stoker::train(settings, {.epoch = [](const stoker::TrainEpoch& epoch) {
                  std::printf("epoch %u: loss %.3f, validation top-1 %.1f %%\n", epoch.epoch + 1,
                              epoch.train_loss, 100 * epoch.validation_top1);
                }});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "Usage: finetune_example DATA WEIGHTS OUTPUT\n"), 2;
  try {
    finetune(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
