#include "stoker/distributed/secret.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Whoever hears a proof can try guesses at home: 32 characters are more than anybody can try.
constexpr std::size_t kShortest = 32, kLongest = 1024;
constexpr const char* kMakeOne = "Make one: openssl rand -hex 32";

struct SecretFile {
  int number = -1;
  explicit SecretFile(const std::string& path)
      // Not blocking: a pipe in the file's place is refused, not waited for.
      : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~SecretFile() {
    if (number >= 0) ::close(number);
  }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
};

[[noreturn]] void unreadable(const std::string& path, const std::string& found) {
  throw Error({.what = "cannot read the ranks' secret", .path = path, .found = found});
}

// Of the opened file, so that nobody can put another into its place in between.
void check_file(int number, const std::string& path) {
  struct stat status {};
  if (::fstat(number, &status) != 0) unreadable(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) unreadable(path, "no regular file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  throw Error({.what = "others may read the ranks' secret",
               .path = path,
               .expected = "a file for its owner alone (mode 600)",
               .found = fmt::format("mode {:o}", status.st_mode & 07777),
               .hint = "Run chmod 600 on it"});
}

std::string first_line_of(const std::string& path) {
  const SecretFile file(path);
  if (file.number < 0) unreadable(path, std::strerror(errno));
  check_file(file.number, path);
  std::array<char, kLongest + 2> bytes{};
  const ssize_t length = ::read(file.number, bytes.data(), bytes.size());
  if (length < 0) unreadable(path, std::strerror(errno));
  const std::string text(bytes.data(), static_cast<std::size_t>(length));
  return text.substr(0, text.find('\n'));
}

std::string checked(std::string secret, const std::string& path, const char* from) {
  secret.erase(secret.find_last_not_of(" \t\r\n") + 1);
  if (secret.size() >= kShortest && secret.size() <= kLongest) return secret;
  throw Error({.what = fmt::format("cannot use the ranks' secret, from {}", from),
               .path = path,
               .expected = fmt::format("{} to {} characters", kShortest, kLongest),
               .found = secret.size() > kLongest ? "more" : fmt::format("{}", secret.size()),
               .hint = kMakeOne});
}

}  // namespace

std::string read_rank_secret(const std::string& file, const Environment& environment) {
  if (!file.empty()) return checked(first_line_of(file), file, "`dist_secret_file`");
  // Set to nothing is a mistake of a script, not a wish to do without, and so an error.
  if (const auto path = environment("STOKER_DIST_SECRET_FILE")) {
    return checked(first_line_of(*path), *path, "STOKER_DIST_SECRET_FILE");
  }
  if (auto secret = environment("STOKER_DIST_SECRET")) {
    return checked(std::move(*secret), "", "STOKER_DIST_SECRET");
  }
  return "";
}

}  // namespace stoker
