// One call of one of LibTorch's operators: arguments checked against its schema once, then put on a
// stack for every call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "stoker/io/exported_program.h"

namespace stoker {

// Values of a graph in one run: tensors and integers, by their numbers.
using GraphValues = std::vector<c10::IValue>;

// Puts the arguments into the order of the operator's schema, those by place before those by name.
void order_arguments(GraphNode& node);

class GraphCall {
 public:
  // Throws Error, with the operator and the argument, where the node does not fit the schema.
  GraphCall(const GraphNode& node, const std::string& file);

  // What the operator returns for these values.
  [[nodiscard]] std::vector<c10::IValue> operator()(const GraphValues& values) const;

  // Where constants that name a device say so.
  void to(const at::Device& device);
  // Replaces an argument that is the same in every call; invariant: the schema has it.
  void set_constant(const char* name, const c10::IValue& value);
  // Of one call; undefined where it was not given.
  [[nodiscard]] c10::IValue argument(const char* name, const GraphValues& values) const {
    return argument(place_of(name), values);
  }
  // By its place: an operator and its form that works in place call it differently.
  [[nodiscard]] c10::IValue argument(std::size_t place, const GraphValues& values) const;

 private:
  // An argument that differs from call to call.
  struct Variable {
    std::size_t place;
    GraphArgument source;
    bool optional_tensors = false;  // a list whose members may be missing
  };
  [[nodiscard]] std::size_t place_of(const char* name) const;
  void add(const GraphNode& node, const GraphArgument& argument, const c10::Argument& wanted,
           const std::string& file);

  c10::OperatorHandle operator_;
  std::vector<c10::IValue> stack_;
  std::vector<Variable> variables_;
  std::vector<std::size_t> devices_;  // places
};

}  // namespace stoker
