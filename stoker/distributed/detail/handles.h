// What a Group holds of c10d.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "stoker/distributed/group.h"

namespace stoker {

struct Group::Handles {
  c10::intrusive_ptr<c10d::Store> store;  // the keys of this attempt
  c10::intrusive_ptr<c10d::ProcessGroup> ranks, statistics;
};

}  // namespace stoker
