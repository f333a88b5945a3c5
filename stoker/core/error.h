/// \file
/// Errors that a person reads: what went wrong, where, what was expected, what was found, what to
/// do.
///
/// Three kinds, one use each:
///  - Error ends the command (bad flag, missing file, corrupt header): thrown;
///  - Result: the caller goes on (one undecodable image): returned, see result.h;
///  - InvariantError: our bug, never reached by user input: thrown.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "stoker/export.h"

namespace stoker {

/// The parts of a message. Only `what` is required; empty parts are left out of the text.
struct ErrorDetails {
  std::string what;                          ///< what could not be done
  std::string path = {};                     ///< the file it is about
  std::optional<std::uint64_t> offset = {};  ///< byte in that file
  std::string expected = {};
  std::string found = {};
  std::string hint = {};  ///< what the reader can do now
};

/// "what: path, byte 4: expected …, found …. hint"
[[nodiscard]] STOKER_API std::string to_string(const ErrorDetails& details);

/// Ends what was asked for; what() is the whole message.
class STOKER_API Error : public std::runtime_error {
 public:
  explicit Error(ErrorDetails details);
  [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }

 private:
  ErrorDetails details_;
};

/// A broken promise of our own code; the message asks for a report.
class STOKER_API InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace stoker
