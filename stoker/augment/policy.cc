#include "stoker/augment/policy.h"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/augment/presets.h"
#include "stoker/augment/registry.h"
#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Reads "name(number,number),name(number)", with spaces anywhere between the parts.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  struct Call {
    std::string_view name;
    std::vector<double> arguments;
  };

  [[nodiscard]] bool at_end() {
    skip_spaces();
    return place_ == text_.size();
  }

  Call call() {
    Call call{.name = name(), .arguments = {}};
    if (!accept('(')) return call;
    if (accept(')')) return call;
    do {
      call.arguments.push_back(number());
    } while (accept(','));
    if (!accept(')')) fail("\",\" or \")\"");
    return call;
  }

  // Between two calls.
  void separator() {
    if (!accept(',')) fail("\",\" between two operations");
    if (at_end()) fail("an operation after \",\"");
  }

 private:
  void skip_spaces() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (place_ == text_.size() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }
  std::string_view name() {
    skip_spaces();
    const std::size_t begin = place_;
    const auto is_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    while (place_ < text_.size() && is_name(text_[place_])) ++place_;
    if (place_ == begin) fail("the name of an operation");
    return text_.substr(begin, place_ - begin);
  }
  double number() {
    skip_spaces();
    double value = 0;
    const char* begin = text_.data() + place_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("a number");
    place_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  [[noreturn]] void fail(const std::string& expected) {
    throw OptionError(
        {.what = fmt::format("cannot read the policy \"{}\" at character {}", text_, place_ + 1),
         .expected = expected,
         .found = place_ == text_.size() ? std::string("its end")
                                         : fmt::format("\"{}\"", text_.substr(place_, 12)),
         .hint =
             "A policy looks like rotate(-15,15),noise(0.1); `stoker ops` lists all operations"});
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

// One value for every parameter: given, or from a single symmetric bound, or its default.
std::vector<double> complete(const OperationSchema& schema, std::vector<double> given) {
  if (schema.symmetric_range && given.size() == 1 && given[0] >= 0)
    given.insert(given.begin(), -given[0]);
  for (std::size_t i = given.size(); i < schema.parameters.size(); ++i) {
    if (!schema.parameters[i].default_value) break;
    given.push_back(*schema.parameters[i].default_value);
  }
  if (given.size() != schema.parameters.size()) {
    throw OptionError({.what = fmt::format("wrong number of arguments for {}", schema.name),
                       .expected = fmt::format("{}, e.g. {}", usage(schema), schema.example),
                       .found = fmt::format("{} arguments", given.size())});
  }
  return given;
}

void check_value(const OperationSchema& schema, const ParameterSchema& parameter, double value) {
  const bool whole = !parameter.whole || value == std::floor(value);
  if (value >= parameter.minimum && value <= parameter.maximum && whole) return;
  throw OptionError(
      {.what = fmt::format("{}: {} ({}) is out of range", schema.name, parameter.name,
                           parameter.meaning),
       .expected = fmt::format("{}{} to {}", parameter.whole ? "a whole number, " : "",
                               parameter.minimum, parameter.maximum),
       .found = fmt::format("{}", value)});
}

// "low" and "high", or "area_low" and "area_high", side by side.
bool is_range(const ParameterSchema& low, const ParameterSchema& high) {
  const std::string_view name = low.name;
  return name.ends_with("low") &&
         high.name == fmt::format("{}high", name.substr(0, name.size() - 3));
}

void check_arguments(const OperationSchema& schema, const std::vector<double>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    check_value(schema, schema.parameters[i], arguments[i]);
  }
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const ParameterSchema &low = schema.parameters[i], &high = schema.parameters[i + 1];
    if (!is_range(low, high) || arguments[i] <= arguments[i + 1]) continue;
    throw OptionError({.what = fmt::format("{}: the range is empty", schema.name),
                       .expected = fmt::format("{} <= {}", low.name, high.name),
                       .found = fmt::format("{} > {}", arguments[i], arguments[i + 1])});
  }
}

std::string text_of(const OperationSchema& schema, std::span<const double> arguments) {
  const auto is_omitted = [&](std::size_t i) {
    const ParameterSchema& parameter = schema.parameters[i];
    return parameter.omit_default && parameter.default_value == arguments[i];
  };
  while (!arguments.empty() && is_omitted(arguments.size() - 1)) {
    arguments = arguments.first(arguments.size() - 1);
  }
  return fmt::format("{}({})", schema.name, fmt::join(arguments, ","));
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : builtin_presets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

// What a program registered may make anything.
void check_kind(const Operation* operation, const std::string& text) {
  if (dynamic_cast<const GeometricOperation*>(operation) != nullptr ||
      dynamic_cast<const PixelOperation*>(operation) != nullptr) {
    return;
  }
  throw OptionError({.what = fmt::format("{} is an operation of no known kind", text),
                     .expected = "a geometric, pixel or framing operation",
                     .found = operation == nullptr ? "none" : "another class"});
}

// The number behind a letter group of timm's spelling, "9" of "-m9"; `otherwise` where it is not
// there.
std::string part_of_timm(std::string_view text, std::string_view name, const char* otherwise) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::string_view rest = text.substr(at + name.size());
    const std::string_view number = rest.substr(0, rest.find('-'));
    if (!number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos) {
      return std::string(number);
    }
  }
  return otherwise;
}

// "rand-m9-mstd0.5-inc1" means RandAugment there.
void refuse_spelling_of_timm(std::string_view text) {
  if (!text.starts_with("rand-")) return;
  throw OptionError(
      {.what = fmt::format("unknown policy \"{}\"", text),
       .hint = fmt::format("timm's spelling; here it is randaugment({},{},{})",
                           part_of_timm(text, "-n", "2"), part_of_timm(text, "-m", "9"),
                           part_of_timm(text, "-mstd", "0"))});
}

}  // namespace

Policy Policy::parse(std::string_view text) {
  if (const Preset* preset = find_preset(text)) text = preset->policy;
  refuse_spelling_of_timm(text);
  Policy policy;
  Parser parser(text);
  while (!parser.at_end()) {
    if (!policy.operations_.empty()) parser.separator();
    const Parser::Call call = parser.call();
    const OperationSchema& schema = find_operation(call.name);
    const std::vector<double> arguments = complete(schema, call.arguments);
    check_arguments(schema, arguments);
    policy.append(schema.make(arguments), text_of(schema, arguments));
  }
  return policy;
}

void Policy::append(std::shared_ptr<const Operation> operation, std::string text) {
  if (operations_.size() + 1 >= kMaxOperations) {
    throw OptionError({.what = "the policy is too long",
                       .expected = fmt::format("fewer than {} operations", kMaxOperations)});
  }
  const auto index = static_cast<std::uint16_t>(operations_.size());
  text_ += (text_.empty() ? "" : ",") + text;
  if (auto framing = std::dynamic_pointer_cast<const FramingOperation>(operation)) {
    if (index > 0) {
      throw OptionError(
          {.what = fmt::format("{} stands at place {} of the policy", text, index + 1),
           .expected = "it at the first place, and no other that changes the size",
           .hint = "What changes the size is chosen before an image is decoded"});
    }
    framing_ = std::move(framing);
    operations_.push_back(std::move(operation));
    return;
  }
  check_kind(operation.get(), text);
  const auto* pixels = dynamic_cast<const PixelOperation*>(operation.get());
  if (narrow_.empty() && pixels != nullptr && !pixels->takes_wide()) narrow_ = text;
  const bool geometric = dynamic_cast<const GeometricOperation*>(operation.get()) != nullptr;
  if (geometric && !steps_.empty() && steps_.back().geometric) {
    ++steps_.back().end;
  } else {
    steps_.push_back(
        {.begin = index, .end = static_cast<std::uint16_t>(index + 1), .geometric = geometric});
    warps_ += geometric ? 1 : 0;
  }
  operations_.push_back(std::move(operation));
}

void Policy::check(const ImageShape& shape) const {
  if (!shape.wide() || narrow_.empty()) return;
  const bool deep = shape.depth != 8;
  throw OptionError(
      {.what = fmt::format("{} works on {}", narrow_,
                           deep ? "8-bit images" : "images with 1 or 3 channels"),
       .found = fmt::format("images with {} channels of {} bits", shape.channels, shape.depth),
       .hint = fmt::format("Remove it from `aa`, or use {}", deep ? "`depth` 8" : "`channels` 3")});
}

Affine Policy::draw_map(const Step& step, const SampleKey& key, const ImageShape& shape) const {
  Affine map;
  for (std::uint16_t i = step.begin; i < step.end; ++i) {
    Rng rng(key, i);
    map = then(map, static_cast<const GeometricOperation&>(*operations_[i]).draw(rng, shape));
  }
  return map;
}

void Policy::apply(const MutableImageView& out, const ImageView& in, const SampleKey& key,
                   AugmentScratch& scratch) const {
  STOKER_INVARIANT(out.shape == in.shape && ImageView(out).contiguous(), "shapes or gaps");
  STOKER_INVARIANT(narrow_.empty() || !in.shape.wide(), "{} on a wide image", narrow_);
  int warps_left = warps_;
  // The last resampling pass writes to `out`; before it, passes alternate between two buffers.
  const auto next_target = [&]() -> MutableImageView {
    if (warps_left == 0) return out;
    Image& image = scratch.between[warps_left % 2];
    image.reshape(in.shape);
    return image.view();
  };
  ImageView current = in;
  MutableImageView writable{};  // where `current` may be changed; null while it is still the input
  for (const Step& step : steps_) {
    if (step.geometric) {
      --warps_left;
      writable = next_target();
      resample(writable, current, draw_map(step, key, in.shape), scratch.warp);
    } else {
      if (writable.data == nullptr) {
        writable = next_target();
        copy_pixels(writable, in);
      }
      Rng rng(key, step.begin);
      const auto per_value =
          rng_stream(key, static_cast<std::uint16_t>(step.begin | kPerValueStream));
      static_cast<const PixelOperation&>(*operations_[step.begin])
          .apply(writable, rng, per_value, scratch);
    }
    current = writable;
  }
  if (steps_.empty()) copy_pixels(out, in);
}

Image Policy::apply(const ImageView& in, const SampleKey& key) const {
  Image out(in.shape);
  AugmentScratch scratch;
  apply(out.view(), in, key, scratch);
  return out;
}

}  // namespace stoker
