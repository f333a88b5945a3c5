#include "stoker/io/torch_file.h"

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/test_safetensors.h"
#include "stoker/io/test_torch_files.h"

namespace stoker {
namespace {

using namespace pickles;  // NOLINT: words of a small language
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps the bytes that the tensors point into.
struct ParsedFile {
  Bytes bytes;
  TorchFile file;
  explicit ParsedFile(Bytes content)
      : bytes(std::move(content)), file(parse_torch_file(as_span(bytes), "f.pth")) {}
};

std::string values(const TensorView& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

// The bytes of floats by their places in six_floats().
std::string floats_at(const std::vector<int>& places) {
  std::string out;
  for (const int place : places) out += six_floats().substr(4 * static_cast<std::size_t>(place), 4);
  return out;
}

std::string six() { return storage("FloatStorage", "0", 6); }

// The same pickle in both formats. The old one's ids have a sixth part.
std::vector<Bytes> both_formats(const std::string& value, const Storages& storages) {
  std::string old = value;
  for (std::size_t at = old.find("tQ"); at != std::string::npos; at = old.find("tQ", at + 3)) {
    old.insert(at, "N");
  }
  return {zip_file(whole(value), storages), old_file(whole(old), storages)};
}

TEST(TorchFile, ReadsBothFormats) {
  const std::string state = dict({{"w", tensor(six(), 0, {2, 3}, {3, 1})},
                                  {"b", tensor(storage("FloatStorage", "1", 1), 0, {}, {})}});
  for (const Bytes& bytes : both_formats(state, {{"0", six_floats()}, {"1", "abcd"}})) {
    const ParsedFile parsed(bytes);
    ASSERT_EQ(parsed.file.tensors().size(), 2U);
    EXPECT_EQ(parsed.file.part(), "");
    const TensorView& w = parsed.file.tensors()[0];
    EXPECT_EQ(w.name, "w");
    EXPECT_EQ(w.dtype, DType::kF32);
    EXPECT_THAT(w.shape, ElementsAre(2, 3));
    EXPECT_EQ(values(w), six_floats());
    EXPECT_EQ(values(parsed.file.tensors()[1]), "abcd");
    EXPECT_EQ(parsed.file.find("b"), &parsed.file.tensors()[1]);
    EXPECT_EQ(parsed.file.find("c"), nullptr);
    // In the file, not copied.
    EXPECT_GE(w.bytes.data(), as_span(parsed.bytes).data());
    EXPECT_LT(w.bytes.data(), as_span(parsed.bytes).data() + parsed.bytes.size());
  }
}

TEST(TorchFile, KnowsTheStoragesOfEveryType) {
  const std::pair<const char*, DType> types[] = {
      {"BoolStorage", DType::kBool},  {"ByteStorage", DType::kU8},
      {"CharStorage", DType::kI8},    {"ShortStorage", DType::kI16},
      {"HalfStorage", DType::kF16},   {"BFloat16Storage", DType::kBf16},
      {"IntStorage", DType::kI32},    {"FloatStorage", DType::kF32},
      {"DoubleStorage", DType::kF64}, {"LongStorage", DType::kI64}};
  for (const auto& [name, dtype] : types) {
    const auto count = static_cast<std::int64_t>(24 / dtype_bytes(dtype));
    for (const char* module : {"torch", "torch.cuda"}) {
      const std::string id = tuple({text("storage"), global(module, name), text("0"),
                                    text("cuda:0"), integer(count)}) +
                             "Q";
      const ParsedFile parsed(
          zip_file(whole(dict({{"w", tensor(id, 0, {count}, {1})}})), {{"0", six_floats()}}));
      EXPECT_EQ(parsed.file.tensors()[0].dtype, dtype);
      EXPECT_EQ(values(parsed.file.tensors()[0]), six_floats());
    }
  }
}

TEST(TorchFile, MakesRowsOfValuesThatLieOtherwise) {
  const auto rows = [](std::int64_t offset, const std::vector<std::int64_t>& shape,
                       const std::vector<std::int64_t>& strides) {
    const std::string state = dict({{"w", tensor(six(), offset, shape, strides)}});
    const ParsedFile parsed(zip_file(whole(state), {{"0", six_floats()}}));
    return values(parsed.file.tensors()[0]);
  };
  EXPECT_EQ(rows(0, {3, 2}, {1, 3}), floats_at({0, 3, 1, 4, 2, 5}));  // transposed
  EXPECT_EQ(rows(1, {2, 2}, {3, 1}), floats_at({1, 2, 4, 5}));        // columns 1 and 2
  EXPECT_EQ(rows(0, {3}, {2}), floats_at({0, 2, 4}));
  EXPECT_EQ(rows(2, {2, 1, 2}, {0, 99, 2}), floats_at({2, 4, 2, 4}));  // repeated
  EXPECT_EQ(rows(5, {4}, {0}), floats_at({5, 5, 5, 5}));
  EXPECT_EQ(rows(0, {2, 3, 1, 1}, {1, 2, 7, 8}), floats_at({0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(rows(2, {3, 1}, {1, INT64_MAX}), floats_at({2, 3, 4}));  // never taken
  EXPECT_EQ(rows(1, {2, 2, 1}, {2, 1, INT64_MAX}), floats_at({1, 2, 3, 4}));
  EXPECT_EQ(rows(0, {2, 1, 2}, {1, INT64_MAX, 2}), floats_at({0, 2, 1, 3}));
  EXPECT_EQ(rows(5, {}, {}), floats_at({5}));
  EXPECT_EQ(rows(99, {0, 3}, {3, 1}), "");
}

TEST(TorchFile, TensorsMayShareAStorage) {
  const std::string state = dict({{"all", tensor(six(), 0, {6}, {1})},
                                  {"tied", tensor(six(), 0, {6}, {1})},
                                  {"part", tensor(six(), 3, {3}, {1})}});
  for (const Bytes& bytes : both_formats(state, {{"0", six_floats()}})) {
    const ParsedFile parsed(bytes);
    EXPECT_EQ(parsed.file.find("all")->bytes.data(), parsed.file.find("tied")->bytes.data());
    EXPECT_EQ(values(*parsed.file.find("part")), floats_at({3, 4, 5}));
  }
}

TEST(TorchFile, FindsTheStateDictInsideACheckpoint) {
  const auto part = [](const std::string& value) {
    const ParsedFile parsed(zip_file(whole(value), {{"0", six_floats()}}));
    EXPECT_EQ(parsed.file.tensors().size(), 1U);
    EXPECT_EQ(parsed.file.tensors()[0].name, "w");
    return parsed.file.part();
  };
  const std::string state = dict({{"w", tensor(six(), 0, {6}, {1})}});
  const std::string other = dict({{"v", tensor(six(), 0, {6}, {1})}});
  EXPECT_EQ(part(state), "");
  for (const char* key : {"state_dict", "model", "model_state_dict", "ema"}) {
    EXPECT_EQ(part(dict({{"epoch", "K\3"}, {key, state}, {"name", text("x")}})), key);
  }
  EXPECT_EQ(part(dict({{"ema", other}, {"model", state}})), "model");
  EXPECT_EQ(part(dict({{"ema", other}, {"model", other}, {"state_dict", state}})), "state_dict");
  EXPECT_EQ(part(dict({{"model", dict({{"state_dict", state}})}})), "model.state_dict");
  EXPECT_EQ(part(dict({{"model", other}, {"model", state}})),
            "model");  // Python's dict has the last
  // A tensor beside it, and a model that is only a word.
  EXPECT_EQ(part(dict({{"best", tensor(six(), 0, {}, {})}, {"state_dict", state}})), "state_dict");
  EXPECT_EQ(part(dict({{"model", dict({{"kind", text("r")}})}, {"ema", state}})), "ema");
}

TEST(TorchFile, OmitsWhatIsNoTensor) {
  const std::string state = dict({{"w", tensor(six(), 0, {6}, {1})},
                                  {"version", "K\2"},
                                  {"list", "](K\1K\2e"},
                                  {"size", global("torch", "Size") + "K\1\x85\x85R"},
                                  {"rate", std::string("G\x3F\xF8\0\0\0\0\0\0", 9)}});
  const std::string attributes = "}" + text("_metadata") + "}sb";
  const ParsedFile parsed(zip_file(whole(state + attributes), {{"0", six_floats()}}));
  EXPECT_EQ(parsed.file.tensors().size(), 1U);
}

TEST(TorchFile, ReadsParametersOfAllTimes) {
  const std::string plain = tensor(six(), 0, {6}, {1});
  const std::string old_plain = global("torch._utils", "_rebuild_tensor") +
                                tuple({six(), integer(0), sizes({6}), sizes({1})}) + "R";
  const std::string hooks = global("collections", "OrderedDict") + ")R";
  for (const std::string& value :
       {global("torch._utils", "_rebuild_parameter") + tuple({plain, "\x88", hooks}) + "R",
        global("torch.nn.parameter", "Parameter") + tuple({old_plain}) + "\x81" +
            tuple({"\x88", "\x89", hooks}) + "b",
        global("torch.nn.parameter", "Parameter") + tuple({plain, "\x88"}) + "R", old_plain}) {
    const ParsedFile parsed(zip_file(whole(dict({{"w", value}})), {{"0", six_floats()}}));
    EXPECT_EQ(values(parsed.file.tensors()[0]), six_floats());
  }
}

TEST(TorchFile, ReadsSizesOfTorch) {
  const std::string value =
      global("torch._utils", "_rebuild_tensor_v2") +
      tuple({six(), integer(0), global("torch", "Size") + sizes({2, 3}) + "\x85R", sizes({3, 1}),
             "\x89", "N", "N"}) +
      "R";
  const ParsedFile parsed(zip_file(whole(dict({{"w", value}})), {{"0", six_floats()}}));
  EXPECT_THAT(parsed.file.tensors()[0].shape, ElementsAre(2, 3));
}

TEST(TorchFile, ReadsADictAsPython2WroteIt) {
  const std::string pair = "](" + std::string("U\1w") + tensor(six(), 0, {6}, {1}) + "e";
  const std::string state = global("collections", "OrderedDict") + "](" + pair + "e\x85R";
  const ParsedFile parsed(zip_file(whole(state), {{"0", six_floats()}}));
  EXPECT_EQ(parsed.file.tensors()[0].name, "w");
}

TEST(TorchFile, WritingAndReadingBringsTheSameBack) {
  const Sample sample;
  const std::vector<std::byte> bytes = encode_torch_file(sample.tensors);
  const TorchFile file = parse_torch_file(bytes, "written");
  ASSERT_EQ(file.tensors().size(), sample.tensors.size());
  for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
    EXPECT_EQ(file.tensors()[i].name, sample.tensors[i].name);
    EXPECT_EQ(file.tensors()[i].dtype, sample.tensors[i].dtype);
    EXPECT_EQ(file.tensors()[i].shape, sample.tensors[i].shape);
    EXPECT_EQ(values(file.tensors()[i]), values(sample.tensors[i]));
    if (sample.tensors[i].bytes.empty()) continue;
    EXPECT_EQ((file.tensors()[i].bytes.data() - bytes.data()) % 64, 0);
  }
  EXPECT_EQ(encode_torch_file(file.tensors()), bytes);
}

TEST(TorchFile, WritesAFileWithoutTensorsToo) {
  const std::vector<std::byte> bytes = encode_torch_file({});
  const TorchFile file = parse_torch_file(bytes, "none");
  EXPECT_TRUE(file.tensors().empty());
}

TEST(TorchFile, FilesOutliveTheObjectThatOpenedThem) {
  const TempFolder folder;
  const Sample sample;
  write_torch_file(folder.path() / "w.pth", sample.tensors);
  TorchFile first(folder.path() / "w.pth");
  const TorchFile file = std::move(first);
  EXPECT_EQ(values(*file.find("weight")), values(sample.tensors[1]));
  const auto expected = encode_torch_file(sample.tensors);
  const Bytes written = contents_of(folder.path() / "w.pth");
  EXPECT_TRUE(std::ranges::equal(as_span(written), expected));
}

TEST(TorchFile, ATensorThatMakesNoSenseIsNotWritten) {
  const TempFolder folder;
  const Bytes eight(8);
  const auto refusal = [&](std::vector<TensorView> tensors) {
    const auto path = folder.path() / "w.pth";
    const auto details = error_of([&] { write_torch_file(path, tensors); });
    EXPECT_FALSE(std::filesystem::exists(path));
    return to_string(details);
  };
  const auto view = [&](std::string name, std::vector<std::int64_t> shape) {
    return TensorView{std::move(name), DType::kF32, std::move(shape), as_span(eight)};
  };
  EXPECT_THAT(refusal({view("", {2})}), HasSubstr("names in UTF-8"));
  EXPECT_THAT(refusal({view("\xFF", {2})}), HasSubstr("names in UTF-8"));
  EXPECT_THAT(refusal({view("a", {3})}), HasSubstr("Expected 12 bytes"));
  EXPECT_THAT(refusal({view("a", {INT64_MAX, 4})}), HasSubstr("less than 2^63"));
  EXPECT_THAT(refusal({view("a", {2}), view("b", {2}), view("a", {2})}), HasSubstr("\"a\" twice"));
}

TEST(TorchFile, LooksAtTheBeginning) {
  const auto looks = [](const Bytes& bytes) { return looks_like_torch_file(as_span(bytes)); };
  EXPECT_TRUE(looks(zip_file(good_pickle())));
  EXPECT_TRUE(looks(old_file(good_pickle(), {})));
  EXPECT_FALSE(looks({}));
  EXPECT_FALSE(looks(file_of("{}")));
  EXPECT_FALSE(looks(bytes_of(good_pickle())));
}

// ---- Files that PyTorch itself wrote (version 2.15; tests/torch_file_test.py --make-seeds).

std::vector<Bytes> seeds() {
  std::ifstream file(std::filesystem::path(source_dir()) / "tests/fuzz/torch_file_seeds.base64");
  std::vector<Bytes> all;
  for (std::string line; std::getline(file, line);) all.push_back(bytes_of_base64(line));
  return all;
}

// Every type's tensor counts 0, 1, 2, …, 5 in its own way: (2, 3) and once transposed.
std::vector<double> numbers_of(const TensorView& tensor) {
  std::vector<double> numbers;
  const std::size_t width = dtype_bytes(tensor.dtype);
  for (std::size_t i = 0; i < tensor.bytes.size(); i += width) {
    const std::byte* at = tensor.bytes.data() + i;
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, at, sizeof(T));
      return static_cast<double>(value);
    };
    switch (tensor.dtype) {
      case DType::kF64:
        numbers.push_back(as(double{}));
        break;
      case DType::kF32:
        numbers.push_back(as(float{}));
        break;
      case DType::kI64:
        numbers.push_back(as(std::int64_t{}));
        break;
      case DType::kI32:
        numbers.push_back(as(std::int32_t{}));
        break;
      case DType::kI16:
        numbers.push_back(as(std::int16_t{}));
        break;
      default:
        numbers.push_back(as(std::uint8_t{}));
    }
  }
  return numbers;
}

TEST(TorchFile, ReadsWhatPyTorchWrote) {
  const std::vector<Bytes> files = seeds();
  ASSERT_GE(files.size(), 5U);
  for (const std::size_t i : {0U, 1U, 2U}) {  // zip, old, zip of pickle protocol 4
    const TorchFile file = parse_torch_file(as_span(files[i]), fmt::format("seed {}", i));
    EXPECT_EQ(file.tensors().size(), 12U);
    for (const char* name : {"F64", "F32", "I64", "I32", "I16", "I8", "U8"}) {
      const TensorView* tensor = file.find(name);
      ASSERT_NE(tensor, nullptr) << name;
      EXPECT_EQ(dtype_name(tensor->dtype), name);
      EXPECT_THAT(tensor->shape, ElementsAre(2, 3));
      EXPECT_THAT(numbers_of(*tensor), ElementsAre(0, 1, 2, 3, 4, 5));
    }
    EXPECT_THAT(numbers_of(*file.find("BOOL")), ElementsAre(0, 1, 1, 1, 1, 1));
    EXPECT_EQ(values(*file.find("BF16")).substr(2, 2), "\x80\x3F");
    EXPECT_EQ(values(*file.find("F16")).substr(2, 2), std::string("\0\x3C", 2));
    EXPECT_THAT(numbers_of(*file.find("transposed")), ElementsAre(0, 3, 1, 4, 2, 5));
    EXPECT_THAT(file.find("none")->shape, ElementsAre(0, 3));
  }
}

TEST(TorchFile, ReadsCheckpointsThatPyTorchWrote) {
  const std::vector<Bytes> files = seeds();
  ASSERT_GE(files.size(), 5U);
  for (const std::size_t i : {3U, 4U}) {  // zip, old
    const TorchFile file = parse_torch_file(as_span(files[i]), fmt::format("seed {}", i));
    EXPECT_EQ(file.part(), "model");
    std::vector<std::string> names;
    for (const TensorView& tensor : file.tensors()) names.push_back(tensor.name);
    EXPECT_THAT(names,
                ElementsAre("module.0.weight", "module.0.bias", "module.1.weight", "module.1.bias",
                            "module.1.running_mean", "module.1.running_var",
                            "module.1.num_batches_tracked", "module.2.weight", "module.2.bias"));
    EXPECT_THAT(numbers_of(*file.find("module.0.weight")), ElementsAre(0, 1, 2, 3, 4, 5));
    // Tied: the same storage.
    EXPECT_EQ(file.find("module.2.weight")->bytes.data(),
              file.find("module.0.weight")->bytes.data());
  }
}

}  // namespace
}  // namespace stoker
