// Registers an augmentation of its own, which policies can then name like the built-in ones.
//
//   operation_example photos/
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include <stoker/feed.h>

namespace {

// Sets every `period`-th row to black, from a row that is drawn for each image.
class Scanlines final : public stoker::PixelOperation {
 public:
  explicit Scanlines(int period) : period_(period) {}

  // Draws from `rng` alone, which belongs to the sample: the result is the same in every worker.
  void apply(const stoker::MutableImageView& image, stoker::Rng& rng, const stoker::RngStream&,
             stoker::AugmentScratch&) const override {
    const auto first = static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(period_)));
    for (int y = first; y < image.shape.height; y += period_) {
      std::fill_n(image.row(y), image.shape.bytes_per_row(), std::uint8_t{0});
    }
  }

 private:
  int period_;
};

// Policies check arguments by this description before they call `make`.
stoker::OperationSchema scanlines_schema() {
  return {
      .name = "scanlines",
      .summary = "sets rows to black, at equal distances",
      .parameters = {{.name = "period",
                      .meaning = "distance in rows",
                      .minimum = 2,
                      .maximum = 1000,
                      .default_value = 4,
                      .whole = true}},
      .example = "scanlines(4)",
      .make = [](std::span<const double> arguments) -> std::unique_ptr<const stoker::Operation> {
        return std::make_unique<Scanlines>(static_cast<int>(arguments[0]));
      }};
}

void print_black_rows(const char* data) {
  stoker::register_operation(scanlines_schema());
  const auto policy = stoker::Policy::parse("resize_crop(32,32),scanlines(8)");
  std::printf("policy %s\n", policy.text().c_str());
  stoker::Feed feed(stoker::open_data(data, stoker::Split::kTrain), policy,
                    {.batch_size = 4, .seed = 1, .pixel_type = stoker::PixelType::kU8});
  while (const auto batch = feed.next()) {
    for (std::uint32_t i = 0; i < batch->size(); ++i) {
      const auto bytes_per_row = batch->image_shape().bytes_per_row();
      int black = 0;
      for (int y = 0; y < batch->image_shape().height; ++y) {
        const auto row = batch->pixels_of(i).subspan(y * bytes_per_row, bytes_per_row);
        black += std::ranges::all_of(row, [](std::byte value) { return value == std::byte{0}; });
      }
      std::printf("sample %llu: %d black rows\n",
                  static_cast<unsigned long long>(batch->indices()[i]), black);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "Usage: operation_example DATA\n"), 2;
  try {
    print_black_rows(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
