// Python's pickle format, as far as files of weights use it, read as data. A pickle is a program
// for a small machine that can name and call any Python function; here a call stays a record of
// what would be called with what, and nothing is ever called.
//
// Only the opcodes of a state_dict and the names on the caller's list are known; everything else is
// refused by its name. Memory and time follow the number of bytes, not the numbers in them. A value
// may contain itself: values are places in one list, which is freed as a whole. Any number of
// threads may read one Pickle.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// A Python name that a pickle may use.
struct PickleGlobal {
  enum class Use : std::uint8_t {
    kName,  // named only: a call is refused
    kCall,  // a call becomes a value of kind kCall
    kDict,  // a call makes a dict, empty or from a list of pairs
  };
  std::string_view name;  // "torch._utils._rebuild_tensor_v2"
  Use use = Use::kName;
};

struct PickleValue {
  enum class Kind : std::uint8_t {
    kNone,
    kBool,
    kInteger,
    kLong,  // an integer beyond 64 bits
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kCall,
    kPersistent,  // something that lies outside the pickle
  };
  Kind kind = Kind::kNone;
  std::uint32_t place = 0;   // for Pickle
  std::int64_t integer = 0;  // also of a kBool; of a kText its bytes
  // Of a kFloat.
  [[nodiscard]] double real() const noexcept { return std::bit_cast<double>(integer); }
};

struct PickleOptions {
  std::span<const PickleGlobal> globals = {};
  bool persistent = false;   // whether it may refer to what lies outside
  std::string file = {};     // for messages
  std::uint64_t offset = 0;  // where the pickle begins in that file, for messages
};

class Pickle {
 public:
  [[nodiscard]] const PickleValue& root() const noexcept { return root_; }
  // Up to the end of the pickle; what follows belongs to someone else.
  [[nodiscard]] std::size_t bytes() const noexcept { return end_; }
  // Every kPersistent in the order of the file, also those that the root does not reach.
  [[nodiscard]] std::span<const PickleValue> persistent() const noexcept { return persistent_; }

  // Of a kText; of a kLong its bytes, the lowest first. A view of the bytes that were parsed.
  [[nodiscard]] std::string_view text(const PickleValue& value) const;
  // Of a kGlobal, and what a kCall calls: a name of the caller's list.
  [[nodiscard]] std::string_view global(const PickleValue& value) const;
  // Of a kTuple or kList its items; of a kDict key, value, key, value and so on, as they came; of a
  // kPersistent its id; of a kCall the tuple of arguments, then the states that were set on it.
  [[nodiscard]] std::span<const PickleValue> items(const PickleValue& value) const;

 private:
  friend class PickleReader;
  struct Object {
    std::vector<PickleValue> items;
    std::string_view global;
  };
  std::span<const std::byte> source_;
  std::vector<Object> objects_;
  std::vector<PickleValue> persistent_;
  PickleValue root_;
  std::size_t end_ = 0;
};

// Reads the pickle at the beginning of `bytes`, which must outlive the result, as must the list of
// names. Throws Error.
[[nodiscard]] Pickle parse_pickle(std::span<const std::byte> bytes, const PickleOptions& options);

// "a tuple", for messages.
[[nodiscard]] std::string_view kind_name(PickleValue::Kind kind);

}  // namespace stoker
