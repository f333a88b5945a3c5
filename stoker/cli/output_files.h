// Files that a command writes where the user says. What is there stays, unless --force is given.
#pragma once

#include <initializer_list>
#include <string>

#include "stoker/cli/command.h"

namespace stoker {

class OutputFiles {
 public:
  // Adds --force.
  void add_to(const Command& command);
  // Call it before the work is done. Throws Error where one of them is there. Names that mean no
  // file are passed over: empty ones, "-", devices.
  void check(std::initializer_list<std::string> paths) const;

 private:
  bool force_ = false;
};

}  // namespace stoker
