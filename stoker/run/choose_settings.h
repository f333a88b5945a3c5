// What a user left open, chosen from the data and the pretrained weights alone, so that every rank
// and every repetition chooses the same.
#pragma once

#include <string>
#include <vector>

#include "stoker/data/training_parts.h"
#include "stoker/run/run_settings.h"

namespace stoker {

// The network where `model` is not given, with a recipe that suits it; the size of images that
// differ in size, or `img_size`; the learning rate where neither user nor recipe gives one. Adds
// what it sets to `given`. Returns a line for the run's log for each choice.
[[nodiscard]] std::vector<std::string> choose_settings(RunSettings& run, GivenSettings& given,
                                                       const TrainingParts& parts);

// The policy with images of this size: its first operation changed, or one put in front where it
// gives none. `differ`: whether the images differ in size without it.
[[nodiscard]] std::string policy_of_size(const std::string& policy, int size, bool differ);

}  // namespace stoker
