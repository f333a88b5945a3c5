// Classes of images, computed by ONNX Runtime, with the pixels of training: the same classes as
// `stoker predict --engine onnxruntime`. Needs no LibTorch.
//
//   stoker export runs/first --out first.onnx
//   onnxruntime_example runs/first/weights/best.safetensors first.onnx photo.jpg…
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include <onnxruntime_cxx_api.h>
#include <stoker/stoker_preprocess.h>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "Usage: onnxruntime_example MODEL NETWORK.onnx IMAGE…\n");
    return 2;
  }
  try {
    // How images become numbers, and what the classes are called, stands in the model file.
    const std::unique_ptr<stoker_preprocessor, void (*)(stoker_preprocessor*)> preprocessor(
        stoker_preprocessor_from_model(argv[1], STOKER_FLOAT_NCHW), stoker_preprocessor_free);
    if (!preprocessor) throw std::runtime_error(stoker_last_error());
    int32_t height = 0, width = 0, channels = 0;
    stoker_preprocessor_shape(preprocessor.get(), &height, &width, &channels);
    const std::array<int64_t, 4> shape = {1, channels, height, width};
    std::vector<float> pixels(stoker_preprocessor_bytes(preprocessor.get()) / sizeof(float));

    const Ort::Env environment(ORT_LOGGING_LEVEL_ERROR, "example");
    Ort::Session session(environment, argv[2], Ort::SessionOptions());
    const Ort::MemoryInfo memory =
        Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
    const Ort::Value input = Ort::Value::CreateTensor<float>(memory, pixels.data(), pixels.size(),
                                                             shape.data(), shape.size());

    int failed = 0;
    for (int i = 3; i < argc; ++i) {
      if (stoker_preprocess_file(preprocessor.get(), argv[i], pixels.data(),
                                 pixels.size() * sizeof(float)) != STOKER_OK) {
        std::fprintf(stderr, "%s\n", stoker_last_error());
        failed = 1;
        continue;
      }
      const char* from = "pixels";
      const char* to = "logits";
      const std::vector<Ort::Value> outputs =
          session.Run(Ort::RunOptions(), &from, &input, 1, &to, 1);
      const auto* first = outputs[0].GetTensorData<float>();
      const size_t classes = outputs[0].GetTensorTypeAndShapeInfo().GetElementCount();
      const auto* best = std::max_element(first, first + classes);
      std::printf(
          "%s\t%s\n", argv[i],
          stoker_preprocessor_class_name(preprocessor.get(), static_cast<size_t>(best - first)));
    }
    return failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxruntime_example: %s\n", error.what());
    return 1;
  }
}
