// AwsProfile: what AWS's variables and the two files of its tools say about one profile. Read once;
// immutable afterwards.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "stoker/core/environment.h"

namespace stoker::detail {

using AwsSection = std::map<std::string, std::string>;

// The sections of such a file by their titles, without spaces and quotes around names:
// "profile other". Lines that belong to the value above them are ignored. Throws nothing.
[[nodiscard]] std::map<std::string, AwsSection> parse_aws_file(std::string_view text);

// The whole of a small regular file. Throws Error where it cannot be read or has more bytes.
[[nodiscard]] std::string read_small_file(const std::filesystem::path& path, std::size_t most);

class AwsProfile {
 public:
  // Throws Error where AWS_PROFILE names a profile that neither file has and no keys are set.
  explicit AwsProfile(const Environment& environment);

  // The first of these variables that is set to something.
  [[nodiscard]] std::string variable(const char* name, const char* other = nullptr) const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const AwsSection& credentials() const noexcept { return credentials_; }
  [[nodiscard]] const AwsSection& config() const noexcept { return config_; }
  // Of the file of credentials, else of the other one; "" where neither has it.
  [[nodiscard]] std::string value(const std::string& key) const;
  // Another section of the config file.
  [[nodiscard]] AwsSection section(const std::string& title) const;

 private:
  const Environment& environment_;  // NOLINT: of the caller, for as long as this lives
  std::string name_;
  AwsSection credentials_, config_;
  std::map<std::string, AwsSection> config_file_;
};

}  // namespace stoker::detail
