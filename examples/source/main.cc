// Feeds data of its own: samples that are computed, without a file.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <stoker/feed.h>

namespace {

// Grey images of one level each: class 0 is dark, class 1 is bright.
class Levels final : public stoker::Source {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 256; }
  [[nodiscard]] stoker::ImageShape shape() const override {
    return {.height = 8, .width = 8, .channels = 1};
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return "level " + std::to_string(index);
  }

  // Called by many threads at once, each with a buffer of its own.
  [[nodiscard]] stoker::Result<stoker::Sample> read(std::uint64_t index,
                                                    stoker::SampleBuffer& buffer) const override {
    if (index == kMissing) return stoker::ErrorDetails{.what = "this level was never measured"};
    buffer.decoded.reshape(shape());
    const auto pixels = buffer.decoded.view();
    std::fill_n(pixels.data, shape().bytes(), static_cast<std::uint8_t>(index));
    return stoker::Sample{.image = pixels, .label = index < 128 ? 0 : 1};
  }

 private:
  static constexpr std::uint64_t kMissing = 200;
  std::vector<std::string> names_ = {"dark", "bright"};
};

// A sample that cannot be read is replaced here, and listed at the end.
void print_classes() {
  const auto source = std::make_shared<Levels>();
  stoker::Feed feed(source, {}, {.batch_size = 64, .on_error = stoker::OnError::kSkip});
  std::vector<double> sum(2), count(2);
  while (const auto batch = feed.next()) {
    const std::size_t values = batch->image_shape().bytes();
    for (std::uint32_t i = 0; i < batch->size(); ++i) {
      const auto label = static_cast<std::size_t>(batch->labels()[i]);
      sum[label] += batch->pixels_f32()[i * values];
      count[label] += 1;
    }
  }
  for (std::size_t label = 0; label < 2; ++label) {
    std::printf("%s: mean %.3f\n", source->class_names()[label].c_str(), sum[label] / count[label]);
  }
  for (const stoker::SampleFault& fault : feed.faults()) {
    std::printf("replaced %s: %s\n", fault.name.c_str(), fault.reason.c_str());
  }
}

}  // namespace

int main() {
  try {
    print_classes();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
