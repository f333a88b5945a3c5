// Texts of the trainer's commands that the build has written already. Loading LibTorch takes 0.2 s,
// too long for `stoker train --help` and for completions that a shell asks for at its start, and
// packages come without LibTorch.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// The file that answers these words (without the program's name): "help-train.txt" for
// `train --help`. Empty where no such text exists.
[[nodiscard]] std::string ready_text_name(std::span<const std::string_view> words);

// Prints it from texts/ beside the program (a build) or ../lib/stoker/texts (an installation).
// False where there is none.
[[nodiscard]] bool print_ready_text(std::span<const std::string_view> words,
                                    const std::filesystem::path& program_folder);

}  // namespace stoker
