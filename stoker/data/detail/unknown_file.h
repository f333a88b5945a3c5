// What a file is whose name does not end like that of an image which is read here: an image of
// another format, an image under another name, or something else. The extension decides where it is
// known; else the first bytes do.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace stoker::detail {

// How the reasons of files that are images begin.
inline constexpr std::string_view kUnsupported = "unsupported image (";
inline constexpr std::string_view kMisnamed = "image without its extension (";

// Gives reasons why files are omitted from a listing. One thread.
class UnknownFiles {
 public:
  // `folder` is the descriptor of an open folder. "unsupported image (.gif)", "image without its
  // extension (a JPEG image, .dat)", "not an image (.txt)". Opens the file only where the
  // extension tells nothing, and of each such extension no more once 256 were no images.
  [[nodiscard]] std::string reason(int folder, const char* name);

 private:
  std::map<std::string, int, std::less<>> no_images_;  // by extension, how many were opened
};

}  // namespace stoker::detail
