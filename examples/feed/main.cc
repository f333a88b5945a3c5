// Iterates over batches of augmented images.
//
//   feed_example photos/          a folder with a folder for each class
//   feed_example fashion-mnist "rotate(-15,15),noise(0.1)"
#include <cstdio>
#include <exception>

#include <stoker/feed.h>

namespace {

void print_batches(const char* data, const char* policy) {
  stoker::Feed feed(stoker::open_data(data, stoker::Split::kTrain), stoker::Policy::parse(policy),
                    {.workers = 2, .batch_size = 4, .epochs = 2, .seed = 1});
  const stoker::ImageShape shape = feed.image_shape();
  std::printf("images of %d x %d pixels with %d channels\n", shape.width, shape.height,
              shape.channels);
  while (const auto batch = feed.next()) {
    double sum = 0;
    for (const float value : batch->pixels_f32()) sum += value;
    std::printf("epoch %u, batch %llu: mean %.4f, samples", batch->epoch(),
                static_cast<unsigned long long>(batch->number()),
                sum / static_cast<double>(batch->pixels_f32().size()));
    for (std::uint32_t i = 0; i < batch->size(); ++i) {
      std::printf(" %llu (class %lld)", static_cast<unsigned long long>(batch->indices()[i]),
                  static_cast<long long>(batch->labels()[i]));
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "Usage: feed_example DATA [POLICY]\n"), 2;
  try {
    print_batches(argv[1], argc > 2 ? argv[2] : "resize_crop(32,32),hflip(0.5)");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
