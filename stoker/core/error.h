/// \file
/// Errors that a person reads: what went wrong, where, what was expected, what was found, what to
/// do.
///
/// Three kinds, one use each:
///  - Error ends the command (bad flag, missing file, corrupt header): thrown;
///  - Result: the caller goes on (one undecodable image): returned, see result.h;
///  - InvariantError: our bug, never reached by user input: thrown.
///
/// A text names an option as C++ does, in backquotes: "`on_error` skip", "`resume=runs/a`". Below
/// `cli` no text has flags; `cli` makes "--on-error skip" of it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "stoker/export.h"

namespace stoker {

/// The parts of a message. Only `what` is required; empty parts are omitted from the text.
struct ErrorDetails {
  std::string what;                          ///< what could not be done
  std::string path = {};                     ///< the file it is about
  std::optional<std::uint64_t> offset = {};  ///< byte in that file
  std::string expected = {};
  std::string found = {};
  std::string hint = {};                  ///< what the reader can do now
  std::vector<ErrorDetails> causes = {};  ///< errors that led to it
};

/// "what: path, byte 4. Expected …, got …. hint". Without the causes.
[[nodiscard]] STOKER_API std::string to_string(const ErrorDetails& details);

/// to_string(), and a line "  cause: …" for each cause, and for its causes below it. Omits
/// causes of which all but `what` is in the message already.
[[nodiscard]] STOKER_API std::string full_message(const ErrorDetails& details);

/// For ErrorDetails::causes: details of an Error, or the text of another exception.
[[nodiscard]] STOKER_API ErrorDetails details_of(const std::exception& error);

/// Ends what was asked for; what() is the message without causes.
class STOKER_API Error : public std::runtime_error {
 public:
  explicit Error(ErrorDetails details);
  [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }

 private:
  ErrorDetails details_;
};

/// An option that is missing, or whose value cannot be used: the caller's mistake. The program ends
/// with exit code 2.
class STOKER_API OptionError : public Error {
 public:
  using Error::Error;
};

/// A broken promise of our own code; the message asks for a report.
class STOKER_API InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace stoker
