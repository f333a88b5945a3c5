// R22, the lesson's third question: docs/backward.md says which products the backward pass of a
// linear layer makes, with their shapes. Here LibTorch tells which ones our code asks for.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/networks/mlp.h"

namespace stoker {
namespace {

std::string shape_of(const at::Tensor& tensor) {
  return fmt::format("({})", fmt::join(tensor.sizes(), ", "));
}

std::vector<std::string>& products() {
  static std::vector<std::string> all;
  return all;
}

// "(64, 784) (784, 128) (64, 128)": left, right, result.
std::unique_ptr<at::ObserverContext> note_product(const at::RecordFunction& call) {
  const std::string name = call.name();
  if (name != "aten::mm" && name != "aten::addmm") return nullptr;
  const std::size_t first = name == "aten::mm" ? 0 : 1;  // behind the bias
  const at::Tensor left = call.inputs()[first].toTensor();
  const at::Tensor right = call.inputs()[first + 1].toTensor();
  products().push_back(
      fmt::format("{} {} ({}, {})", shape_of(left), shape_of(right), left.size(0), right.size(1)));
  return nullptr;
}

std::vector<std::string> products_in_the_docs() {
  std::ifstream file(std::filesystem::path(source_dir()) / "docs/backward.md");
  const std::regex shape(R"(\(\d+, \d+\))");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| forward |") && !line.starts_with("| backward |")) continue;
    std::vector<std::string> shapes;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), shape);
         it != std::sregex_iterator(); ++it) {
      shapes.push_back(it->str());
    }
    rows.push_back(fmt::format("{}", fmt::join(shapes, " ")));
  }
  return rows;
}

TEST(Spec, R22_BackwardPassOfALinearLayerAsTheDocsSay) {
  Mlp mlp({784, 128, 10}, Activation::kSigmoid, 1);
  const at::Tensor images = at::rand({64, 784}), labels = at::arange(64).remainder(10);
  products().clear();
  const at::CallbackHandle handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(note_product)
                                     .needsInputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
  mlp.backward(images, labels, {});
  at::removeCallback(handle);
  const std::vector<std::string> told = products_in_the_docs();
  EXPECT_EQ(told.size(), 5U);
  EXPECT_EQ(products(), told);
  // A gradient has the shape of what it belongs to.
  for (const NamedTensor& each : mlp.parameters()) {
    EXPECT_EQ(each.tensor.grad().sizes(), each.tensor.sizes()) << each.name;
  }
}

}  // namespace
}  // namespace stoker
