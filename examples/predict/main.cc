// Prints the class of every image, by a model that `stoker train` or train_example made.
//
//   predict_example runs/example/weights/best.safetensors photos/
#include <cstdio>
#include <exception>

#include <stoker/predict.h>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "Usage: predict_example MODEL DATA\n"), 2;
  try {
    stoker::Predictor predictor(argv[1]);
    for (const stoker::ImagePrediction& image : predictor.predict(argv[2])) {
      if (image.error.empty()) {
        std::printf("%s\t%s\t%.4f\n", image.name.c_str(), image.label.c_str(), image.probability);
      } else {
        std::printf("%s\t\t%s\n", image.name.c_str(), image.error.c_str());
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
