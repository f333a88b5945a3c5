#include "stoker/io/pickle.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/io/detail/pickle_input.h"
#include "stoker/io/detail/pickle_opcodes.h"
#include "stoker/io/detail/torch_errors.h"

namespace stoker {
namespace {

using detail::kSaveWeightsAlone;
using detail::Op;
using Kind = PickleValue::Kind;
using Use = PickleGlobal::Use;

// Far more than any state_dict needs (35 values a tensor), and little memory.
constexpr std::size_t kMaxValues = 2'000'000;
constexpr std::size_t kMaxMarks = 100;

}  // namespace

// Runs the machine: a stack, marks on it, a memo. Every function for opcodes returns whether the
// opcode is one of its own.
class PickleReader {
 public:
  PickleReader(std::span<const std::byte> bytes, const PickleOptions& options)
      : in_(bytes, options.file, options.offset), options_(options) {
    pickle_.source_ = bytes;
  }

  Pickle read();

 private:
  bool number(Op op);
  bool text(Op op);
  bool container(Op op);
  bool filling(Op op);
  bool memo(Op op);
  bool calling(Op op);

  void protocol();
  void long_integer();
  void set_items(std::vector<PickleValue> items);
  void persistent();
  void global(std::string_view module, std::string_view name);
  void call();
  void build();
  [[nodiscard]] std::vector<PickleValue> pairs_of(const PickleValue& arguments);

  void count(std::size_t values);
  void push(PickleValue value);
  void push_integer(Kind kind, std::int64_t integer);
  void push_text(Kind kind, std::size_t length);
  void push_object(Kind kind, std::vector<PickleValue> items, std::string_view global = {});
  PickleValue& top();
  PickleValue pop();
  PickleValue pop(Kind kind, const char* what);
  std::vector<PickleValue> pop_last(std::size_t count);
  std::vector<PickleValue> pop_marked();
  Pickle::Object& object(const PickleValue& value) { return pickle_.objects_[value.place]; }

  [[noreturn]] void refuse_opcode(Op op);

  Pickle pickle_;
  detail::PickleInput in_;
  const PickleOptions& options_;
  std::size_t values_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::map<std::uint32_t, PickleValue> memo_;
};

// ---- The stack.

void PickleReader::count(std::size_t values) {
  if (values > kMaxValues - values_) {
    in_.fail(fmt::format("a pickle of at most {} values", kMaxValues), "more", kSaveWeightsAlone);
  }
  values_ += values;
}

void PickleReader::push(PickleValue value) {
  count(1);
  stack_.push_back(value);
}

void PickleReader::push_integer(Kind kind, std::int64_t integer) {
  push({.kind = kind, .integer = integer});
}

void PickleReader::push_text(Kind kind, std::size_t length) {
  const auto place = static_cast<std::uint32_t>(in_.at());
  const auto bytes = static_cast<std::int64_t>(in_.take(length).size());
  push({.kind = kind, .place = place, .integer = bytes});
}

void PickleReader::push_object(Kind kind, std::vector<PickleValue> items, std::string_view global) {
  push({.kind = kind, .place = static_cast<std::uint32_t>(pickle_.objects_.size())});
  pickle_.objects_.push_back({.items = std::move(items), .global = global});
}

PickleValue& PickleReader::top() {
  // What lies below a mark is out of reach until the mark is taken away.
  if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) {
    in_.fail("a value on the stack", "none");
  }
  return stack_.back();
}

PickleValue PickleReader::pop() {
  const PickleValue value = top();
  stack_.pop_back();
  return value;
}

PickleValue PickleReader::pop(Kind kind, const char* what) {
  const PickleValue value = pop();
  if (value.kind != kind) in_.fail(what, std::string(kind_name(value.kind)));
  return value;
}

std::vector<PickleValue> PickleReader::pop_last(std::size_t count) {
  std::vector<PickleValue> items(count);
  while (count > 0) items[--count] = pop();
  return items;
}

std::vector<PickleValue> PickleReader::pop_marked() {
  if (marks_.empty()) in_.fail("a mark on the stack", "none");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

// ---- Opcodes.

bool PickleReader::number(Op op) {
  switch (op) {
    case Op::kNone:
      push({});
      return true;
    case Op::kNewTrue:
    case Op::kNewFalse:
      push_integer(Kind::kBool, op == Op::kNewTrue ? 1 : 0);
      return true;
    case Op::kBinInt:
      push_integer(Kind::kInteger, static_cast<std::int32_t>(in_.take_unsigned(4)));
      return true;
    case Op::kBinInt1:
      push_integer(Kind::kInteger, static_cast<std::int64_t>(in_.take_unsigned(1)));
      return true;
    case Op::kBinInt2:
      push_integer(Kind::kInteger, static_cast<std::int64_t>(in_.take_unsigned(2)));
      return true;
    case Op::kLong1:
      long_integer();
      return true;
    case Op::kBinFloat:  // big-endian, unlike all else
      push_integer(Kind::kFloat,
                   static_cast<std::int64_t>(__builtin_bswap64(in_.take_unsigned(8))));
      return true;
    default:
      return false;
  }
}

// Two's complement of any length; none means 0.
void PickleReader::long_integer() {
  const auto length = static_cast<std::size_t>(in_.take_unsigned(1));
  if (length > 8) {
    push_text(Kind::kLong, length);
    return;
  }
  const std::uint64_t bits = in_.take_unsigned(length);
  const int unused = 64 - 8 * static_cast<int>(length);
  push_integer(Kind::kInteger,
               length == 0 ? 0 : static_cast<std::int64_t>(bits << unused) >> unused);
}

bool PickleReader::text(Op op) {
  switch (op) {
    case Op::kBinUnicode:
    case Op::kBinString:  // Python 2's text
      push_text(Kind::kText, static_cast<std::size_t>(in_.take_unsigned(4)));
      return true;
    case Op::kShortBinUnicode:
    case Op::kShortBinString:
      push_text(Kind::kText, static_cast<std::size_t>(in_.take_unsigned(1)));
      return true;
    default:
      return false;
  }
}

bool PickleReader::container(Op op) {
  switch (op) {
    case Op::kMark:
      if (marks_.size() == kMaxMarks) {
        in_.fail(fmt::format("at most {} levels", kMaxMarks), "more", kSaveWeightsAlone);
      }
      marks_.push_back(stack_.size());
      return true;
    case Op::kTuple:
      push_object(Kind::kTuple, pop_marked());
      return true;
    case Op::kEmptyTuple:
    case Op::kTuple1:
    case Op::kTuple2:
    case Op::kTuple3: {
      const std::size_t items =
          op == Op::kEmptyTuple ? 0 : static_cast<std::size_t>(op) - 0x84;  // TUPLE1 is 0x85
      push_object(Kind::kTuple, pop_last(items));
      return true;
    }
    case Op::kEmptyList:
      push_object(Kind::kList, {});
      return true;
    case Op::kEmptyDict:
      push_object(Kind::kDict, {});
      return true;
    default:
      return false;
  }
}

bool PickleReader::filling(Op op) {
  switch (op) {
    case Op::kAppend:
    case Op::kAppends: {
      const auto added = op == Op::kAppend ? pop_last(1) : pop_marked();
      if (top().kind != Kind::kList) {
        in_.fail("a list to append to", std::string(kind_name(top().kind)));
      }
      auto& items = object(top()).items;
      items.insert(items.end(), added.begin(), added.end());
      return true;
    }
    case Op::kSetItem:
    case Op::kSetItems:
      set_items(op == Op::kSetItem ? pop_last(2) : pop_marked());
      return true;
    default:
      return false;
  }
}

void PickleReader::set_items(std::vector<PickleValue> added) {
  if (top().kind != Kind::kDict) {
    in_.fail("a dict to set items of", std::string(kind_name(top().kind)));
  }
  if (added.size() % 2 != 0) in_.fail("a value for each key", "a key without one");
  auto& items = object(top()).items;
  items.insert(items.end(), added.begin(), added.end());
}

bool PickleReader::memo(Op op) {
  switch (op) {
    case Op::kBinPut:
    case Op::kLongBinPut:
    case Op::kMemoize: {
      const std::uint64_t place =
          op == Op::kMemoize ? memo_.size() : in_.take_unsigned(op == Op::kBinPut ? 1 : 4);
      count(1);
      memo_.insert_or_assign(static_cast<std::uint32_t>(place), top());
      return true;
    }
    case Op::kBinGet:
    case Op::kLongBinGet: {
      const auto place = static_cast<std::uint32_t>(in_.take_unsigned(op == Op::kBinGet ? 1 : 4));
      const auto found = memo_.find(place);
      if (found == memo_.end()) in_.fail("a value that was kept", fmt::format("none as {}", place));
      push(found->second);
      return true;
    }
    default:
      return false;
  }
}

bool PickleReader::calling(Op op) {
  switch (op) {
    case Op::kGlobal: {
      const std::string_view module = in_.take_line();
      global(module, in_.take_line());
      return true;
    }
    case Op::kStackGlobal: {
      const PickleValue name = pop(Kind::kText, "the name of a function as text");
      const PickleValue module = pop(Kind::kText, "the name of a module as text");
      global(pickle_.text(module), pickle_.text(name));
      return true;
    }
    case Op::kBinPersId:
      persistent();
      return true;
    case Op::kReduce:
    case Op::kNewObj:
      call();
      return true;
    case Op::kBuild:
      build();
      return true;
    default:
      return false;
  }
}

void PickleReader::global(std::string_view module, std::string_view name) {
  const std::string full = fmt::format("{}.{}", module, name);
  const auto known = std::ranges::find(options_.globals, full, &PickleGlobal::name);
  // A name with a dot walks through attributes: what it means depends on the modules.
  if (known == options_.globals.end() || name.find('.') != std::string_view::npos) {
    in_.refuse(detail::shown_name(module, name));
  }
  push_object(Kind::kGlobal, {}, known->name);
}

void PickleReader::persistent() {
  if (!options_.persistent) in_.refuse("a reference to something outside");
  push_object(Kind::kPersistent, pop_last(1));
  pickle_.persistent_.push_back(top());
}

void PickleReader::call() {
  const PickleValue arguments = pop(Kind::kTuple, "a tuple of arguments");
  const PickleValue function = pop(Kind::kGlobal, "a function to call");
  const std::string_view name = object(function).global;
  const auto known = std::ranges::find(options_.globals, name, &PickleGlobal::name);
  if (known->use == Use::kName) in_.refuse(fmt::format("a call of {}", name));
  if (known->use == Use::kDict) {
    push_object(Kind::kDict, pairs_of(arguments));
  } else {
    push_object(Kind::kCall, {arguments}, name);
  }
}

// Keys and values of dict(), or of dict([[key, value], …]) as Python 2 wrote it.
std::vector<PickleValue> PickleReader::pairs_of(const PickleValue& arguments) {
  const auto given = pickle_.items(arguments);
  if (given.empty()) return {};
  const bool list = given.size() == 1 && given[0].kind == Kind::kList;
  if (!list) in_.fail("a dict made of nothing or of a list of pairs", "other arguments");
  std::vector<PickleValue> items;
  for (const PickleValue& pair : pickle_.items(given[0])) {
    const bool sequence = pair.kind == Kind::kList || pair.kind == Kind::kTuple;
    if (!sequence || pickle_.items(pair).size() != 2) {
      in_.fail("pairs for a dict", "something else");
    }
    count(2);  // or one list, named many times, would fill the memory
    items.insert(items.end(), pickle_.items(pair).begin(), pickle_.items(pair).end());
  }
  return items;
}

// A dict's attributes (PyTorch has versions of modules there) say nothing about weights. What a
// state means for a call is the caller's to judge.
void PickleReader::build() {
  const PickleValue state = pop();
  if (top().kind == Kind::kDict) return;
  if (top().kind != Kind::kCall) {
    in_.refuse(fmt::format("a state for {}", kind_name(top().kind)));
  }
  object(top()).items.push_back(state);
}

void PickleReader::refuse_opcode(Op op) {
  const auto byte = static_cast<int>(op);
  const auto known =
      std::ranges::find(detail::kRefusedOpcodes, byte, &std::pair<int, std::string_view>::first);
  if (known == detail::kRefusedOpcodes.end()) {
    in_.fail("an opcode of a pickle", fmt::format("the byte 0x{:02x}", byte));
  }
  std::string name = fmt::format("opcode {}", known->second);
  if (op == Op::kInst) {
    const std::string_view module = in_.take_line(), function = in_.take_line();
    name += " of " + detail::shown_name(module, function);
  }
  in_.refuse(name);
}

void PickleReader::protocol() {
  if (in_.take_opcode() != Op::kProto) {
    in_.fail("a pickle, which begins with the byte 0x80", "another byte",
             "Is this a file of torch.save?");
  }
  const std::uint64_t version = in_.take_unsigned(1);
  if (version < 2 || version > 5) {
    in_.fail("a pickle of protocol 2 to 5", fmt::format("{}", version));
  }
}

Pickle PickleReader::read() {
  protocol();
  while (true) {
    const Op op = in_.take_opcode();
    if (op == Op::kStop) break;
    if (op == Op::kFrame) {
      (void)in_.take_unsigned(8);  // how many bytes a reader may fetch at once
    } else if (!number(op) && !text(op) && !container(op) && !filling(op) && !memo(op) &&
               !calling(op)) {
      refuse_opcode(op);
    }
  }
  pickle_.root_ = pop();
  if (!stack_.empty() || !marks_.empty()) in_.fail("one value at the end", "more");
  pickle_.end_ = in_.at();
  return std::move(pickle_);
}

// ---- What was read.

std::string_view Pickle::text(const PickleValue& value) const {
  STOKER_INVARIANT(value.kind == Kind::kText || value.kind == Kind::kLong, "{}",
                   kind_name(value.kind));
  const auto bytes = source_.subspan(value.place, static_cast<std::size_t>(value.integer));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view Pickle::global(const PickleValue& value) const {
  STOKER_INVARIANT(value.kind == Kind::kGlobal || value.kind == Kind::kCall, "{}",
                   kind_name(value.kind));
  return objects_[value.place].global;
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
  STOKER_INVARIANT(value.kind >= Kind::kTuple, "{}", kind_name(value.kind));
  return objects_[value.place].items;
}

Pickle parse_pickle(std::span<const std::byte> bytes, const PickleOptions& options) {
  return PickleReader(bytes, options).read();
}

std::string_view kind_name(Kind kind) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "None",    "a bool", "an integer", "an integer",          "a float",   "text",
      "a tuple", "a list", "a dict",     "a function or class", "an object", "a storage"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace stoker
