// How reading a PyTorch file fails: one sentence, whichever part of the reader finds the fault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::detail {

inline constexpr std::string_view kCutShort =
    "The file is cut short, perhaps by a broken download: fetch it again.";
inline constexpr std::string_view kDamagedTorchFile =
    "The file is damaged or made by something else than PyTorch: fetch it again.";
// For files that hold more than weights. That nothing ran is what a reader wants to know first.
inline constexpr std::string_view kSaveWeightsAlone =
    "Nothing in the file was executed. Where you trust it, save the weights alone with Python: "
    "torch.save(model.state_dict(), FILE)";

// Throws Error; `offset` is the byte of the file that is wrong.
[[noreturn]] void fail_torch(const std::string& file, std::uint64_t offset, std::string expected,
                             std::string found, std::string_view hint);

}  // namespace stoker::detail
