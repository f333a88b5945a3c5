// Trains a network. The run is recorded in a folder; killed and started again, it continues there
// and ends with the same weights.
//
//   train_example photos/ runs/        a folder with a folder for each class
#include <cstdio>
#include <exception>

#include <stoker/train.h>

namespace {

int train(const char* data, const char* output) {
  stoker::RunSettings settings;
  settings.data = data;
  settings.model = "cnn:small";
  settings.policy = "resize(32,32),hflip(0.5)";
  settings.train.feed.epochs = 4;
  settings.train.feed.batch_size = 8;
  settings.output = output;
  settings.experiment = "example";
  settings.resume = "auto";  // where the run is there, it continues
  settings.checkpoint_every = "1steps";
  const stoker::TrainResult result =
      stoker::train(settings, {.line = [](const std::string& line) { std::puts(line.c_str()); },
                               .epoch = [](const stoker::TrainEpoch&) { std::fflush(stdout); }});
  std::printf("%s: %llu steps\n", result.folder.c_str(),
              static_cast<unsigned long long>(result.steps));
  return result.end == stoker::TrainEnd::kAllEpochs ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "Usage: train_example DATA OUTPUT\n"), 2;
  try {
    return train(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
