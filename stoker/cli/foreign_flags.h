// Habits from timm, torchvision's scripts and Ultralytics. Spellings with the same meaning are
// understood; other flags of theirs get one line that names what does it here.
#pragma once

#include <string>
#include <vector>

#include "stoker/cli/command_tree.h"

namespace stoker {

// The words of a command line (without the program's name) in our spelling: "--wd" becomes
// "--weight-decay", "--batch_size" "--batch-size", "imgsz=224" "--img-size=224". Words that the
// command knows, and those behind "--", stay as they are.
[[nodiscard]] std::vector<std::string> in_own_spelling(const CommandInfo& program,
                                                       std::vector<std::string> words);

// What to do instead of a flag of theirs ("--num-classes"), as a phrase; empty where it is not
// known.
[[nodiscard]] std::string advice_on_flag(const std::string& flag);

}  // namespace stoker
