// What an exported network consists of, for people: stages with shapes, parameters and
// multiplications, operators by number. Read from the file alone; nothing is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/io/exported_program.h"
#include "stoker/nn/graph/exported_facts.h"

namespace stoker {

struct GraphSummary {
  struct Stage {
    std::string name;
    // Of what it gives for one image, as the file claims it: (64, 56, 56). Nothing: not told.
    std::optional<std::vector<std::int64_t>> output = {};
    std::uint64_t parameters = 0, buffers = 0;  // values
    // For one image; nothing where the file does not tell a shape that it takes.
    std::optional<std::uint64_t> multiply_adds = std::uint64_t{0};
  };
  ExportedFacts facts;
  std::vector<std::int64_t> image = {};                             // channels, height, width
  std::optional<std::int64_t> classes = {};                         // outputs of the head
  std::vector<Stage> stages = {};                                   // the head last
  std::vector<std::pair<std::string, std::size_t>> operators = {};  // the most frequent first

  [[nodiscard]] std::uint64_t parameters() const;
  [[nodiscard]] std::uint64_t buffers() const;
  // Of convolutions, linear layers, matrix products and attention.
  [[nodiscard]] std::optional<std::uint64_t> multiply_adds() const;
};

// `path` is for messages and the network's name. Throws Error where the network has no stage.
[[nodiscard]] GraphSummary summarise(const ExportedProgram& program,
                                     const std::filesystem::path& path);

}  // namespace stoker
