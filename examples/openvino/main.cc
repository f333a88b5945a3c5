// Classes of images, computed by OpenVINO, with the pixels of training: the same classes as
// `stoker predict --engine openvino`. Needs no LibTorch.
//
//   stoker export runs/first --out first.onnx
//   openvino_example runs/first/weights/best.safetensors first.onnx photo.jpg…
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include <openvino/openvino.hpp>
#include <stoker/stoker_preprocess.h>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "Usage: openvino_example MODEL NETWORK.onnx IMAGE…\n");
    return 2;
  }
  try {
    // How images become numbers, and what the classes are called, stands in the model file.
    const std::unique_ptr<stoker_preprocessor, void (*)(stoker_preprocessor*)> preprocessor(
        stoker_preprocessor_from_model(argv[1], STOKER_FLOAT_NCHW), stoker_preprocessor_free);
    if (!preprocessor) throw std::runtime_error(stoker_last_error());
    int32_t height = 0, width = 0, channels = 0;
    stoker_preprocessor_shape(preprocessor.get(), &height, &width, &channels);

    ov::Core core;
    const std::shared_ptr<ov::Model> network = core.read_model(argv[2]);
    network->reshape(ov::PartialShape{1, channels, height, width});
    ov::CompiledModel compiled =
        core.compile_model(network, "CPU", ov::hint::inference_precision(ov::element::f32));
    ov::InferRequest request = compiled.create_infer_request();

    int failed = 0;
    for (int i = 3; i < argc; ++i) {
      ov::Tensor input = request.get_input_tensor();
      if (stoker_preprocess_file(preprocessor.get(), argv[i], input.data<float>(),
                                 input.get_byte_size()) != STOKER_OK) {
        std::fprintf(stderr, "%s\n", stoker_last_error());
        failed = 1;
        continue;
      }
      request.infer();
      const ov::Tensor logits = request.get_output_tensor();
      const auto* first = logits.data<const float>();
      const auto* best = std::max_element(first, first + logits.get_size());
      std::printf(
          "%s\t%s\n", argv[i],
          stoker_preprocessor_class_name(preprocessor.get(), static_cast<size_t>(best - first)));
    }
    return failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "openvino_example: %s\n", error.what());
    return 1;
  }
}
