#include "tests/fake_device/planted.h"

#include <vector>

namespace stoker::fake {

Bug planted = Bug::kNone;

namespace {

std::vector<at::Tensor> leaked;
volatile float value_read = 0;

}  // namespace

void plant_in(const DeviceBatch& batch) {
  if (planted == Bug::kLeak && leaked.empty()) leaked.push_back(batch.values);
  if (planted == Bug::kHostRead) value_read = batch.values.const_data_ptr<float>()[0];
}

void forget_leaks() { leaked.clear(); }

}  // namespace stoker::fake
