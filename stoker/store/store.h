// Store: named objects somewhere: files of a folder, what lies behind an HTTP prefix, or a prefix
// of an S3 bucket. Names are relative and come from manifests; they never lead out of the store.
//
// Thread-safety: every member is const and may be called by any number of threads at once. Errors
// are Errors; a remote store has tried again before it throws one (see retry.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace stoker {

struct ObjectFacts {
  std::uint64_t bytes = 0;
  std::string version = {};  // differs once the object was changed: an ETag, a time
};

struct ReadRequest {
  std::string name;
  std::uint64_t begin = 0;                    // the first byte
  std::optional<std::uint64_t> length = {};   // nothing: to the end
  std::optional<std::uint64_t> at_most = {};  // more is an Error; where the length is not known
  std::stop_token stop = {};                  // gives up with an Error
  // An Error at once where the server would send more than the range. Otherwise what it sends
  // before the range is dropped.
  bool range_alone = false;
};

// Takes the bytes as they arrive, in order, each once.
using ByteSink = std::function<void(std::span<const std::byte>)>;

class Store {
 public:
  virtual ~Store() = default;

  // For people and as a key; holds no credentials.
  [[nodiscard]] virtual std::string where() const = 0;
  // The path of an object that is a file of this machine.
  [[nodiscard]] virtual std::optional<std::filesystem::path> local_path(
      const std::string& name) const {
    static_cast<void>(name);
    return std::nullopt;
  }
  // Nothing where the object does not exist.
  [[nodiscard]] virtual std::optional<ObjectFacts> look(const std::string& name) const = 0;
  // The sink has had exactly the bytes asked for when this returns.
  virtual void read(const ReadRequest& request, const ByteSink& sink) const = 0;
  // The file becomes the object, whole.
  virtual void write(const std::string& name, const std::filesystem::path& file) const = 0;
  // Sorted. Throws Error where the store cannot tell.
  [[nodiscard]] virtual std::vector<std::string> list() const = 0;
};

// where() and the name, for messages.
[[nodiscard]] std::string object_path(const Store& store, const std::string& name);

// A small object. Throws Error where it has more bytes.
[[nodiscard]] std::string read_text(const Store& store, const std::string& name,
                                    std::uint64_t max_bytes, std::stop_token stop = {});

}  // namespace stoker
