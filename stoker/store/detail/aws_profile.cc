#include "stoker/store/detail/aws_profile.h"

#include <cerrno>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestAwsFile = std::size_t{4} << 20;
constexpr std::string_view kSpaces = " \t\r\v\f";

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// "profile other" of `[profile "other"]`.
std::string title_of(std::string_view line) {
  std::string title(stripped(line.substr(1, line.find(']') - 1)));
  const std::size_t space = title.find_first_of(" \t");
  if (space == std::string::npos) return title;
  std::string_view name = stripped(std::string_view(title).substr(space));
  if (name.size() > 1 && name.front() == name.back() && (name[0] == '"' || name[0] == '\'')) {
    name = name.substr(1, name.size() - 2);
  }
  return fmt::format("{} {}", title.substr(0, space), name);
}

struct OpenDescriptor {
  int descriptor;
  ~OpenDescriptor() { ::close(descriptor); }
};

[[noreturn]] void fail_small_file(const fs::path& path, std::string found) {
  throw Error({.what = "cannot read the file", .path = path.string(), .found = std::move(found)});
}

}  // namespace

std::map<std::string, AwsSection> parse_aws_file(std::string_view text) {
  std::map<std::string, AwsSection> sections;
  AwsSection* section = nullptr;
  std::size_t deepest = 0;  // what a key is indented by; further right are parts of its value
  bool has_key = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = stripped(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const std::size_t indent = whole.find_first_not_of(kSpaces);
    if (line.front() == '[') {
      section = &sections[title_of(line)];
      has_key = false;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (section == nullptr || equals == std::string_view::npos) continue;
    if (has_key && indent > deepest) continue;
    deepest = indent;
    has_key = true;
    (*section)[std::string(stripped(line.substr(0, equals)))] = stripped(line.substr(equals + 1));
  }
  return sections;
}

std::string read_small_file(const fs::path& path, std::size_t most) {
  // O_NONBLOCK: a named pipe is refused, where it would otherwise wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_small_file(path, std::generic_category().message(errno));
  const OpenDescriptor closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail_small_file(path, "no regular file");
  }
  std::string text(most + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_small_file(path, std::generic_category().message(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most) fail_small_file(path, fmt::format("more than {} bytes", most));
  text.resize(size);
  return text;
}

AwsProfile::AwsProfile(const Environment& environment)
    : environment_(environment), name_(variable("AWS_PROFILE")) {
  const bool chosen = !name_.empty();
  if (!chosen) name_ = "default";
  const auto sections_of = [&](const char* file, const char* usual) {
    fs::path path = variable(file);
    const std::string home = variable("HOME");
    if (path.empty() && !home.empty()) path = fs::path(home) / ".aws" / usual;
    std::error_code ignored;
    if (path.empty() || !fs::exists(path, ignored)) return std::map<std::string, AwsSection>{};
    return parse_aws_file(read_small_file(path, kLargestAwsFile));
  };
  auto credentials = sections_of("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  config_file_ = sections_of("AWS_CONFIG_FILE", "config");
  const std::string title = name_ == "default" ? name_ : "profile " + name_;
  const bool found = credentials.contains(name_) || config_file_.contains(title) ||
                     config_file_.contains("profile " + name_);
  if (chosen && !found && variable("AWS_ACCESS_KEY_ID").empty()) {
    throw Error({.what = "cannot find the profile that AWS_PROFILE names",
                 .found = fmt::format("no profile {} in the files of AWS's tools", name_),
                 .hint = "Run `aws configure list-profiles`, or unset AWS_PROFILE."});
  }
  credentials_ = credentials[name_];
  config_ = section(title);
  if (config_.empty()) config_ = section("profile " + name_);
}

std::string AwsProfile::variable(const char* name, const char* other) const {
  std::string value = environment_(name).value_or("");
  return value.empty() && other != nullptr ? environment_(other).value_or("") : value;
}

std::string AwsProfile::value(const std::string& key) const {
  for (const AwsSection* section : {&credentials_, &config_}) {
    const auto found = section->find(key);
    if (found != section->end() && !found->second.empty()) return found->second;
  }
  return "";
}

AwsSection AwsProfile::section(const std::string& title) const {
  const auto found = config_file_.find(title);
  return found == config_file_.end() ? AwsSection{} : found->second;
}

}  // namespace stoker::detail
