#include "stoker/io/weights_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/core/input_file.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, 2> kWrappers = {"module.", "_orig_mod."};

constexpr std::size_t kFormatBytes = 64;  // which tell the formats apart

bool all_begin_with(std::span<const TensorView> tensors, std::string_view prefix) {
  return !tensors.empty() && std::ranges::all_of(tensors, [&](const TensorView& tensor) {
    return tensor.name.size() > prefix.size() && tensor.name.starts_with(prefix);
  });
}

// The length of its header, then the header.
bool looks_like_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > 8 && bytes[8] == std::byte{'{'};
}

}  // namespace

WeightsFile::WeightsFile(const std::filesystem::path& path) {
  const InputFile file(path);
  std::array<std::byte, kFormatBytes> begin{};
  const std::size_t count = std::min<std::uint64_t>(begin.size(), file.size());
  const auto first = file.read(0, std::span(begin).first(count)).value();
  if (looks_like_torch_file(first)) {
    format_ = WeightsFormat::kTorch;
    tensors_ = file_.emplace<TorchFile>(path).tensors();
  } else if (looks_like_safetensors(first)) {
    tensors_ = file_.emplace<SafetensorsFile>(path).tensors();
  } else {
    throw Error({.what = "cannot read weights",
                 .path = path.string(),
                 .expected = "a safetensors file, or a state_dict of torch.save",
                 .found = first.empty() ? "an empty file" : "another beginning",
                 .hint = "Is the file whole, and is it the right one?"});
  }
  prefix_ = strip_common_prefix(tensors_);
}

const SafetensorsMetadata& WeightsFile::metadata() const& noexcept {
  static const SafetensorsMetadata kNone;
  const auto* file = std::get_if<SafetensorsFile>(&file_);
  return file == nullptr ? kNone : file->metadata();
}

std::string strip_common_prefix(std::span<TensorView> tensors) {
  std::string taken;
  while (true) {
    const auto wrapper = std::ranges::find_if(
        kWrappers, [&](std::string_view prefix) { return all_begin_with(tensors, prefix); });
    if (wrapper == kWrappers.end()) return taken;
    for (TensorView& tensor : tensors) tensor.name.erase(0, wrapper->size());
    taken += *wrapper;
  }
}

}  // namespace stoker
