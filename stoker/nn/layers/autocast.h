// While it lives, LibTorch computes convolutions and products of one kind of device in a lower
// precision, and keeps the converted weights until it ends. A scope of one thread.
#pragma once

#include <ATen/autocast_mode.h>

#include "stoker/nn/model.h"

namespace stoker {

class Autocast {
 public:
  Autocast(const at::Device& device, Precision precision)
      : device_(device.type()), active_(precision != Precision::kFloat32) {
    if (!active_) return;
    enabled_before_ = at::autocast::is_autocast_enabled(device_);
    type_before_ = at::autocast::get_autocast_dtype(device_);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_,
                                     precision == Precision::kBfloat16 ? at::kBFloat16 : at::kHalf);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (!active_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, enabled_before_);
    at::autocast::set_autocast_dtype(device_, type_before_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool active_;
  bool enabled_before_ = false;
  at::ScalarType type_before_ = at::kFloat;
};

}  // namespace stoker
