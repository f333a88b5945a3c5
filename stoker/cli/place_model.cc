#include "stoker/cli/place_model.h"

#include <ATen/Parallel.h>

namespace stoker {

Placement place_model(Model& model, const ComputeFlags& flags, std::uint32_t batch_size) {
  const ChosenDevice device = choose_device(flags.device);
  Placement placement{
      .device = device,
      .threads = split_threads(cpu_budget(), {.workers = flags.workers,
                                              .compute = flags.threads,
                                              .multiply_adds = model.multiply_adds() * batch_size,
                                              .device = device.device})};
  at::set_num_threads(placement.threads.compute);
  model.to(device.device);
  return placement;
}

std::uint32_t default_evaluation_batch(const ImageShape& image) {
  return image.height * image.width <= 64 * 64 ? 256 : 32;
}

}  // namespace stoker
