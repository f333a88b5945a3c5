#include "stoker/store/detail/small_xml.h"

#include <charconv>
#include <utility>
#include <vector>

#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kMostXmlBytes = 64 * 1024;
constexpr std::size_t kMostXmlDepth = 16;
constexpr std::size_t kMostXmlElements = 256;
constexpr std::size_t kLongestXmlName = 128;
constexpr std::string_view kXmlSpaces = " \t\r\n";

[[noreturn]] void fail_xml(const char* found) {
  throw Error({.what = "cannot understand the XML", .found = found});
}

bool is_of_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.' ||
         letter == ':';
}

// The character that "amp" or "#x41" stands for.
char entity_of(std::string_view name) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, letter] : kNamed) {
    if (name == known) return letter;
  }
  if (!name.starts_with('#')) fail_xml("an unknown entity");
  const int base = name.starts_with("#x") ? 16 : 10;
  name.remove_prefix(base == 16 ? 2 : 1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value, base);
  if (error != std::errc{} || end != name.data() + name.size() || value == 0 || value > 0x7E) {
    fail_xml("a character beyond ASCII");
  }
  return static_cast<char>(value);
}

std::string decoded(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t mark = std::min(text.find('&'), text.size());
    plain += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos) fail_xml("an entity without an end");
    plain += entity_of(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
  }
  return plain;
}

// One pass over a document.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  std::map<std::string, std::string> read() {
    if (rest_.starts_with("<?xml")) static_cast<void>(up_to("?>"));
    skip_spaces();
    if (!take("<")) fail_xml("no element");
    open_element();
    while (!open_.empty()) {
      open_.back().text += up_to("<");
      if (take("/")) {
        close_element();
      } else {
        open_element();
      }
    }
    skip_spaces();
    if (!rest_.empty()) fail_xml("something after the document");
    return std::move(texts_);
  }

 private:
  struct Element {
    std::string path, name, text;
    bool has_elements = false;
  };

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kXmlSpaces), rest_.size()));
  }
  // What is before the mark; moves behind it.
  std::string_view up_to(std::string_view mark) {
    const std::size_t at = rest_.find(mark);
    if (at == std::string_view::npos) fail_xml("an early end");
    const std::string_view before = rest_.substr(0, at);
    rest_.remove_prefix(at + mark.size());
    return before;
  }
  bool take(std::string_view mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }
  std::string name() {
    std::size_t size = 0;
    while (size < rest_.size() && is_of_name(rest_[size])) ++size;
    if (size == 0 || size > kLongestXmlName) fail_xml("something other than a name");
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  void skip_attribute() {
    static_cast<void>(name());
    skip_spaces();
    if (!take("=")) fail_xml("an attribute without a value");
    skip_spaces();
    const bool single = rest_.starts_with('\'');
    if (!take(single ? "'" : "\"")) fail_xml("a value without quotes");
    static_cast<void>(up_to(single ? "'" : "\""));
  }
  void open_element() {
    std::string named = name();
    if (open_.size() == kMostXmlDepth || ++elements_ > kMostXmlElements) {
      fail_xml("too many elements");
    }
    std::string path = open_.empty() ? named : open_.back().path + "/" + named;
    if (!open_.empty()) open_.back().has_elements = true;
    open_.push_back({.path = std::move(path), .name = std::move(named), .text = {}});
    skip_spaces();
    while (!rest_.starts_with('>') && !rest_.starts_with('/')) {
      skip_attribute();
      skip_spaces();
    }
    const bool empty = take("/");
    if (!take(">")) fail_xml("an element without an end");
    if (empty) finish();
  }
  void close_element() {
    if (name() != open_.back().name) fail_xml("the end of another element");
    skip_spaces();
    if (!take(">")) fail_xml("an end without an end");
    finish();
  }
  void finish() {
    const Element& element = open_.back();
    if (!element.has_elements && !texts_.emplace(element.path, decoded(element.text)).second) {
      fail_xml("an element twice");
    }
    open_.pop_back();
  }

  std::string_view rest_;
  std::vector<Element> open_;
  std::size_t elements_ = 0;
  std::map<std::string, std::string> texts_;
};

}  // namespace

std::map<std::string, std::string> parse_xml_texts(std::string_view xml) {
  if (xml.size() > kMostXmlBytes) fail_xml("more than 64 KB");
  return XmlReader(xml).read();
}

}  // namespace stoker::detail
