// Two augmented views of each image, as self-supervised training takes them: compares how alike two
// views of one image are with views of two different images.
//
//   two_views_example photos/
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>

#include <stoker/feed.h>

namespace {

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0, length_a = 0, length_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i];
    length_a += double{a[i]} * a[i];
    length_b += double{b[i]} * b[i];
  }
  return product / std::sqrt(length_a * length_b + 1e-12);
}

void compare_views(const char* data) {
  // Normalised to about -1 … 1, so that unlike images have a cosine near 0.
  stoker::Feed feed(
      stoker::open_data(data, stoker::Split::kTrain),
      stoker::Policy::parse("random_resized_crop(32),hflip(0.5),colour_jitter(0.4,0.4,0.4)"),
      {.workers = 2,
       .batch_size = 16,
       .views = 2,
       .seed = 1,
       .normalisation =
           stoker::from_mean_and_deviation({0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5})});
  double same = 0, different = 0;
  std::size_t pairs = 0;
  while (const auto batch = feed.next()) {
    const std::span<const float> pixels =
        batch->pixels_f32();  // sample, view, channel, row, column
    const std::size_t length = pixels.size() / batch->size() / batch->views();
    const auto view = [&](std::size_t sample, std::size_t number) {
      return pixels.subspan((sample * batch->views() + number) * length, length);
    };
    for (std::size_t i = 0; i < batch->size(); ++i, ++pairs) {
      same += cosine(view(i, 0), view(i, 1));
      different += cosine(view(i, 0), view((i + 1) % batch->size(), 1));
    }
    std::printf("%s and others: %u samples\n", batch->name_of(0).c_str(), batch->size());
  }
  std::printf("two views of one image %.3f, of two images %.3f\n",
              same / static_cast<double>(pairs), different / static_cast<double>(pairs));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "Usage: two_views_example DATA\n"), 2;
  try {
    compare_views(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
