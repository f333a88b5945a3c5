// Trains a network that says which of several classes an image shows, from a table, then asks it.
//
//   multilabel_example shapes.csv bar,dot,frame runs/
//
// The table has a header: path,bar,dot,frame. Cells below the classes are 0 or 1.
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

#include <stoker/predict.h>
#include <stoker/train.h>

namespace {

int train_and_ask(const char* table, const char* labels, const char* output) {
  stoker::RunSettings settings;
  settings.data = table;
  std::istringstream names(labels);
  for (std::string name; std::getline(names, name, ',');) settings.table.labels.push_back(name);
  settings.model = "cnn:small";
  settings.policy = "resize(24,24)";
  settings.optimiser.kind = stoker::OptimiserKind::kAdam;
  settings.train.schedule.lr = 0.003;
  settings.train.feed.epochs = 8;
  settings.train.feed.batch_size = 16;
  settings.output = output;
  settings.experiment = "example";
  settings.resume = "auto";
  const stoker::TrainResult result =
      stoker::train(settings, {.line = [](const std::string& line) { std::puts(line.c_str()); }});
  stoker::Predictor predictor(result.folder.string());
  std::size_t images = 0;
  for (const stoker::ImagePrediction& image : predictor.predict(table)) {
    if (++images > 5) break;
    std::printf("%s:", image.name.c_str());
    for (const std::string& label : image.labels) std::printf(" %s", label.c_str());
    std::printf("\n");
  }
  return result.end == stoker::TrainEnd::kAllEpochs ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "Usage: multilabel_example TABLE LABELS OUTPUT\n"), 2;
  try {
    return train_and_ask(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
