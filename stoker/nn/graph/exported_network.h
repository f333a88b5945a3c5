// A network that Python's torch.export wrote (io/exported_program.h), trained as any other: its
// body is the graph, its head a linear layer of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/nn/autograd_model.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/graph/graph_layout.h"

namespace stoker {

// Architectures of these networks begin so: "graph:convnext_tiny".
inline constexpr const char* kGraphPrefix = "graph:";

class ExportedNetwork final : public AutogradModel {
 public:
  struct Parts {
    ExportedGraph graph;
    GraphLayout layout;
    std::vector<at::Tensor> tensors;  // of the graph's inputs, in their order; none for the images
    std::optional<Linear> head;       // made of the features where there is none
    std::uint64_t seed = 0;           // of one that is made
    std::string named_head = {};      // as the user named it
  };
  // Tries the network out on two black images. Throws Error where it cannot be trained on `input`.
  ExportedNetwork(const std::string& architecture, const ModelInput& input, Parts parts,
                  const std::string& file);

  [[nodiscard]] std::int64_t multiply_adds() const override { return multiply_adds_; }
  [[nodiscard]] std::vector<ModelStage> stages() const override;
  [[nodiscard]] bool has_map() const override { return !maps_.empty(); }
  [[nodiscard]] NetworkGraph graph() const override {
    return {.text = parts_.graph.text, .head = parts_.named_head};
  }

 protected:
  void move_tensors(const at::Device& device) override;
  [[nodiscard]] at::Tensor run_body(const at::Tensor& x,
                                    const StageContext& context) const override;
  [[nodiscard]] at::Tensor pool_map(const at::Tensor& map,
                                    const StageContext& context) const override;
  [[nodiscard]] const Linear& head() const override { return *parts_.head; }
  [[nodiscard]] double dropout() const override { return parts_.layout.dropout; }
  [[nodiscard]] at::MemoryFormat memory_format() const override { return memory_format_; }
  [[nodiscard]] MapLayout map_layout() const override { return map_layout_; }
  [[nodiscard]] std::vector<at::Tensor> activation_maps(const at::Tensor& x) const override;
  GraphReference append_features(GraphBuilder& graph, GraphReference x) const override;

 private:
  [[nodiscard]] GraphValues input_values() const;
  [[nodiscard]] GraphMode mode_of(const StageContext& context, std::int64_t samples) const;
  [[nodiscard]] at::Tensor run(const at::Tensor& x, GraphReference from, std::size_t begin,
                               std::size_t end, GraphReference to,
                               const StageContext& context) const;
  void try_out(const std::string& file);
  void find_maps(const std::vector<std::vector<std::int64_t>>& shapes);

  Parts parts_;
  GraphExecutor executor_;
  GraphReference images_;
  at::MemoryFormat memory_format_ = at::MemoryFormat::ChannelsLast;
  // A value that all of the head's features come from; nodes before `end` make it.
  struct Map {
    std::size_t end = 0;
    GraphReference value;
  };
  std::vector<Map> maps_;  // where class activations are read, from the first to the last
  Map cut_;                // the last of them, or the head's features
  MapLayout map_layout_;
  std::int64_t multiply_adds_ = 0;
};

// Whether a network's name is that of such a file: it ends with .pt2.
[[nodiscard]] bool is_exported_network(std::string_view architecture);

// From a .pt2 file, with its weights; the head's are drawn by the seed where the number of classes
// differs, and the first convolution's are added up where images have one channel. `head` is for
// lay_out().
[[nodiscard]] std::unique_ptr<Model> load_exported_network(const std::filesystem::path& path,
                                                           const ModelInput& input,
                                                           std::uint64_t seed,
                                                           const std::string& head = {});

// A built-in network: drawn by the seed. Its name says all, so model files hold no graph.
[[nodiscard]] std::unique_ptr<Model> make_built_network(const std::string& architecture,
                                                        BuiltGraph built, const ModelInput& input,
                                                        std::uint64_t seed);

// From the graph and the tensors of a model file.
[[nodiscard]] std::unique_ptr<Model> make_exported_network(const std::string& architecture,
                                                           const NetworkGraph& graph,
                                                           const ModelInput& input,
                                                           std::span<const TensorView> tensors,
                                                           const std::string& file);

}  // namespace stoker
