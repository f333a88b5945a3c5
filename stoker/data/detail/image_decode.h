// The bytes of an image's file become a sample's pixels: what folders and shards share.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/data/sources/folder_source.h"

namespace stoker::detail {

// Decodes no more than the frame needs, into the buffer. An error has no path: the caller knows it.
[[nodiscard]] Result<ImageView> decode_image(std::span<const std::byte> bytes,
                                             const FolderOptions& options,
                                             const FrameRequest& request, SampleBuffer& buffer);

}  // namespace stoker::detail
