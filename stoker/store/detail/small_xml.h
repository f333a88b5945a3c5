// Small XML documents that are not trusted, such as the replies of AWS's STS.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace stoker::detail {

// The texts of elements without elements in them, by their paths: "Reply/Result/Key". Strict and
// bounded: no doctypes, comments, CDATA or processing instructions but the first; no characters
// beyond ASCII by their number; at most 64 KB, 16 levels and 256 elements; no path twice. Throws
// Error, which contains nothing of the document.
[[nodiscard]] std::map<std::string, std::string> parse_xml_texts(std::string_view xml);

}  // namespace stoker::detail
