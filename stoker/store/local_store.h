// The files of a folder as a store.
#pragma once

#include "stoker/store/store.h"

namespace stoker {

class LocalStore final : public Store {
 public:
  explicit LocalStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string where() const override { return folder_.string(); }
  [[nodiscard]] std::optional<std::filesystem::path> local_path(
      const std::string& name) const override {
    return folder_ / name;
  }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override;
  void read(const ReadRequest& request, const ByteSink& sink) const override;
  // Makes the folder where it is missing.
  void write(const std::string& name, const std::filesystem::path& file) const override;
  [[nodiscard]] std::vector<std::string> list() const override;  // regular files, not in folders

 private:
  std::filesystem::path folder_;
};

}  // namespace stoker
