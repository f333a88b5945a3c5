// Files made to break the reader of PyTorch files. Names that a file must not use are
// pickle_test.cc; that nothing is executed is tests/torch_file_test.py's.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/test_torch_files.h"
#include "stoker/io/torch_file.h"

namespace stoker {
namespace {

using namespace pickles;  // NOLINT: words of a small language
using ::testing::AnyOf;
using ::testing::HasSubstr;

ErrorDetails file_refusal(const Bytes& bytes) {
  const auto details = error_of([&] { (void)parse_torch_file(as_span(bytes), "bad.pth"); });
  EXPECT_EQ(details.what, "cannot read PyTorch file");
  EXPECT_EQ(details.path, "bad.pth");
  EXPECT_LE(details.offset.value_or(UINT64_MAX), bytes.size());
  EXPECT_FALSE(details.expected.empty());
  EXPECT_FALSE(details.found.empty());
  EXPECT_FALSE(details.hint.empty());
  return details;
}

ErrorDetails refusal_of(const std::string& value, const std::string& storage_bytes = six_floats()) {
  return file_refusal(zip_file(whole(value), {{"0", storage_bytes}}));
}

std::string six_values() { return storage("FloatStorage", "0", 6); }

ErrorDetails refused_tensor(std::int64_t offset, const std::vector<std::int64_t>& shape,
                            const std::vector<std::int64_t>& strides) {
  return refusal_of(dict({{"w", tensor(six_values(), offset, shape, strides)}}));
}

Bytes good_zip() { return zip_file(good_pickle(), {{"0", six_floats()}}); }

Bytes good_old() {
  std::string pickle = good_pickle();
  pickle.insert(pickle.find("tQ"), "N");
  return old_file(pickle, {{"0", six_floats()}});
}

TEST(TorchFileHostile, AFileIsRefusedAtEveryLengthButItsOwn) {
  for (const Bytes& good : {good_zip(), good_old()}) {
    (void)parse_torch_file(as_span(good), "good");
    for (std::size_t size = 0; size < good.size(); ++size) {
      const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(file_refusal(cut).hint.empty()) << size;
    }
    Bytes longer = good;
    longer.push_back(0);
    EXPECT_FALSE(file_refusal(longer).hint.empty());
  }
}

TEST(TorchFileHostile, AFlippedBitIsSeenOrHarmless) {
  for (const Bytes& good : {good_zip(), good_old()}) {
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      Bytes flipped = good;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
      try {
        const TorchFile file = parse_torch_file(as_span(flipped), "flipped");
        for (const TensorView& tensor : file.tensors()) {
          EXPECT_EQ(tensor_bytes(tensor.dtype, tensor.shape), tensor.bytes.size());
        }
      } catch (const Error&) {  // most are
      }
    }
  }
}

TEST(TorchFileHostile, TheChecksumFindsAFlippedBitInTheValues) {
  Bytes bytes = good_zip();
  const std::string all(bytes.begin(), bytes.end());
  bytes[all.find(six_floats()) + 5] ^= 1;
  EXPECT_THAT(file_refusal(bytes).expected, HasSubstr("\"a/data/0\" with the checksum"));
}

TEST(TorchFileHostile, NothingButWeightsIsRead) {
  for (const auto& [module, name] :
       std::vector<std::pair<const char*, const char*>>{{"os", "system"},
                                                        {"builtins", "exec"},
                                                        {"torch", "load"},
                                                        {"torch._utils", "_rebuild_sparse_tensor"},
                                                        {"torch.storage", "_load_from_bytes"},
                                                        {"numpy.core.multiarray", "scalar"},
                                                        {"torch", "ComplexFloatStorage"}}) {
    const std::string call = global(module, name) + text("touch canary") + "\x85R";
    const std::string expected = fmt::format("refused: {}.{}", module, name);
    EXPECT_EQ(refusal_of(dict({{"w", call}})).found, expected);
    EXPECT_EQ(file_refusal(old_file(whole(dict({{"w", call}})), {})).found, expected);
    // Also before and after what is read of the old format.
    EXPECT_EQ(file_refusal(bytes_of(whole(call))).found, expected);
    EXPECT_EQ(file_refusal(bytes_of(old_header() + whole("}") + whole(call))).found, expected);
  }
}

TEST(TorchFileHostile, TensorsLieInTheirStorages) {
  const std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> wrong[] = {
      {{7}, {1}},
      {{2, 4}, {3, 1}},
      {{2}, {6}},
      {{2}, {INT64_MAX}},
      {{3, 3}, {INT64_MAX, INT64_MAX}},
      {{1 << 20}, {1}},
      {{INT64_MAX / 4}, {1}}};
  for (const auto& [shape, strides] : wrong) {
    EXPECT_THAT(refused_tensor(0, shape, strides).expected,
                AnyOf(HasSubstr("a place in its storage of 6 values"), HasSubstr("2^63")));
  }
  for (const std::int64_t offset : {std::int64_t{1}, std::int64_t{6}, INT64_MAX - 3, INT64_MAX}) {
    EXPECT_THAT(refused_tensor(offset, {6}, {1}).expected, HasSubstr("a place in its storage"));
  }
  EXPECT_THAT(refused_tensor(6, {}, {}).expected, HasSubstr("a place in its storage"));
  EXPECT_THAT(refused_tensor(INT64_MAX, {}, {}).expected, HasSubstr("a place in its storage"));
}

TEST(TorchFileHostile, SizesThatMakeNoSenseAreRefused) {
  EXPECT_THAT(refused_tensor(0, {-1}, {1}).expected, HasSubstr("sizes from 0 on"));
  EXPECT_THAT(refused_tensor(0, {2}, {-1}).expected, HasSubstr("sizes from 0 on"));
  EXPECT_THAT(refused_tensor(-1, {2}, {1}).expected, HasSubstr("an offset"));
  EXPECT_THAT(refused_tensor(0, {2, 3}, {1}).expected, HasSubstr("a stride for each size"));
  EXPECT_THAT(refused_tensor(0, {INT64_MAX, 2}, {0, 0}).expected, HasSubstr("2^63"));
  EXPECT_THAT(refused_tensor(0, {0, INT64_MAX, 2}, {1, 1, 1}).expected, HasSubstr("2^63"));
  EXPECT_THAT(refused_tensor(0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1))
                  .expected,
              HasSubstr("at most 64 sizes"));
}

TEST(TorchFileHostile, RepeatedValuesDoNotFillTheMemory) {
  EXPECT_THAT(refused_tensor(0, {1LL << 40}, {0}).found, HasSubstr("repeat the same values"));
  EXPECT_THAT(refused_tensor(0, {1LL << 60}, {0}).found, HasSubstr("repeat the same values"));
  // Many tensors, each with a part that is allowed.
  std::string items = "}(";
  for (int i = 0; i < 20; ++i) {
    items += text(fmt::format("w{}", i)) + tensor(six_values(), 0, {100'000}, {0});
  }
  EXPECT_THAT(refusal_of(items + "u").found, HasSubstr("repeat the same values"));
}

TEST(TorchFileHostile, OneTensorUnderManyNamesDoesNotFillTheMemory) {
  std::string items = "}(" + text("w") + tensor(six_values(), 0, {6}, {1}) + "q\1";
  for (int i = 0; i < 100'000; ++i) items += text(fmt::format("{}", i)) + "h\1";
  EXPECT_THAT(refusal_of(items + "u").expected, HasSubstr("at most 100000 tensors"));
}

TEST(TorchFileHostile, AnyArgumentsThatAreNoTensorAreRefused) {
  const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2");
  const std::string parameter = global("torch._utils", "_rebuild_parameter");
  const std::string good = tensor(six_values(), 0, {6}, {1});
  const std::string rest = integer(0) + sizes({6}) + sizes({1}) + "\x89N";
  const auto refused = [&](const std::string& value) {
    EXPECT_THAT(refusal_of(dict({{"w", value}})).expected, HasSubstr("for tensor \"w\"")) << value;
  };
  refused(rebuild + ")R");
  refused(rebuild + "(" + rest + "tR");
  refused(rebuild + "(N" + rest + "tR");
  refused(rebuild + "(" + six_values() + "N" + sizes({6}) + sizes({1}) + "\x89NtR");
  refused(rebuild + "(" + six_values() + integer(0) + "](K\1e" + sizes({1}) + "\x89NtR");
  refused(rebuild + "(" + six_values() + integer(0) + tuple({"N"}) + sizes({1}) + "\x89NtR");
  refused(rebuild + "(" + six_values() + integer(0) + global("torch", "Size") + ")R" + sizes({1}) +
          "\x89NtR");
  refused(rebuild + "(" + six_values() + rest + "}" + text("neg") + "\x88stR");  // negated values
  refused(rebuild + "(" + six_values() + rest + "NNtR");
  refused(good + tuple({six_values(), integer(3), sizes({1}), sizes({1})}) + "b");  // set_()
  refused(parameter + ")R");
  refused(parameter + "(NtR");
  refused(parameter + "(" + good + "tR" + tuple({good, "N", "N", "N", "N"}) + "b");
  refused(parameter + "(" + good + "tRNb");
  refused(parameter + "(" + parameter + "(" + good + "tR" + "tR");
  refused(parameter + "(" + good + "NNNtR");
}

TEST(TorchFileHostile, AStorageIdIsATupleOfItsParts) {
  const std::string type = global("torch", "FloatStorage");
  const auto refused = [&](const std::string& id) {
    const std::string value = dict({{"w", tensor(id + "Q", 0, {6}, {1})}});
    return refusal_of(value).expected;
  };
  const std::string key = text("0"), cpu = text("cpu");
  for (const std::string& id :
       {std::string("K\1"), std::string(")"), text("storage"),
        tuple({text("module"), type, key, cpu, integer(6)}),
        tuple({text("storage"), type, key, cpu}),
        tuple({text("storage"), key, key, cpu, integer(6)}),
        tuple({text("storage"), type, integer(0), cpu, integer(6)}),
        tuple({text("storage"), type, text(std::string(65, '0')), cpu, integer(6)}),
        tuple({text("storage"), type, key, cpu, integer(6), "N", "N"})}) {
    EXPECT_EQ(refused(id), "a storage's class, key, device and size");
  }
  EXPECT_EQ(refused(tuple({text("storage"), global("torch", "Size"), key, cpu, integer(6)})),
            "a class of storages");
  EXPECT_EQ(refused(tuple({text("storage"), type, key, cpu, integer(6), sizes({0, 1})})),
            "storages of their own");
}

TEST(TorchFileHostile, StoragesAreAsLongAsTheySay) {
  const auto claim = [](const std::string& type, std::int64_t count) {
    return dict({{"w", tensor(storage(type, "0", count), 0, {1}, {1})}});
  };
  EXPECT_EQ(refusal_of(claim("FloatStorage", 5)).expected, "20 bytes in storage \"0\"");
  EXPECT_EQ(refusal_of(claim("FloatStorage", 7)).expected, "28 bytes in storage \"0\"");
  for (const std::int64_t count : {std::int64_t{1} << 40, INT64_MAX, std::int64_t{-1}}) {
    EXPECT_THAT(refusal_of(claim("DoubleStorage", count)).expected,
                HasSubstr("storages inside the"));
  }
  EXPECT_THAT(refusal_of(dict({{"w", tensor(tuple({text("storage"), global("torch", "IntStorage"),
                                                   text("0"), text("cpu"), "N"}) +
                                                "Q",
                                            0, {1}, {1})}}))
                  .found,
              "None");
  // Two that contradict each other, the second one not even used.
  const std::string twice = tuple({six_values(), storage("FloatStorage", "0", 3)});
  EXPECT_EQ(refusal_of(dict({{"w", tensor(six_values(), 0, {6}, {1})}, {"x", twice}})).expected,
            "one size of storage \"0\"");
}

TEST(TorchFileHostile, AStorageMustBeInTheArchive) {
  EXPECT_EQ(file_refusal(zip_file(good_pickle())).expected, "a record \"a/data/0\"");
  EXPECT_EQ(
      file_refusal(zip_of({{"a/data.pkl", good_pickle()}, {"a/data/0", six_floats()}})).expected,
      "a record \"a/version\"");
  const auto with = [](const Storages& more) {
    Storages records = {{"a/data.pkl", good_pickle()}, {"a/data/0", six_floats()}};
    records.insert(records.end(), more.begin(), more.end());
    return file_refusal(zip_of(records));
  };
  EXPECT_EQ(with({{"a/version", "11\n"}}).expected, "version 1 to 10 of the format");
  EXPECT_EQ(with({{"a/version", "x"}}).found, "\"x\"");
  EXPECT_EQ(with({{"a/version", "3\n"}, {"a/byteorder", "big"}}).expected,
            "values in little-endian order");
  EXPECT_EQ(with({{"a/version", "3\n"}, {"b/data.pkl", "x"}}).found, "two");
  EXPECT_EQ(with({{"a/version", "3\n"}, {"a/constants.pkl", "x"}}).found,
            "refused: a TorchScript program");
  EXPECT_EQ(file_refusal(zip_of({{"data.pkl", good_pickle()}})).found, "one without");
  EXPECT_EQ(file_refusal(zip_of({{"a/b/data.pkl", good_pickle()}})).found, "one without");
}

TEST(TorchFileHostile, TheOldFormatHasEachStorageOnce) {
  std::string pickle = good_pickle();
  pickle.insert(pickle.find("tQ"), "N");
  const auto expected = [&](const Storages& storages) {
    return file_refusal(old_file(pickle, storages)).expected;
  };
  const std::string six_values = six_floats();
  EXPECT_EQ(expected({}), "values for every storage");
  EXPECT_EQ(expected({{"1", six_values}}), "the storages that tensors use, each once");
  EXPECT_EQ(expected({{"0", six_values}, {"0", six_values}}),
            "the storages that tensors use, each once");
  EXPECT_EQ(expected({{"0", six_values + "1234"}}), "6 values in storage \"0\"");
  EXPECT_EQ(expected({{"0", six_values.substr(4)}}), "storage \"0\" of 24 bytes");
  const auto keys = [&](const std::string& value) {
    return file_refusal(bytes_of(old_header() + pickle + whole(value))).expected;
  };
  EXPECT_EQ(keys("}"), "a list of the storages' keys");
  EXPECT_EQ(keys("]K\1a"), "a list of the storages' keys");
}

TEST(TorchFileHostile, TheOldFormatBeginsWithItsNumbers) {
  EXPECT_EQ(file_refusal(bytes_of(whole("K\1"))).expected, "PyTorch's magic number");
  EXPECT_EQ(file_refusal(bytes_of(whole("\x8A\x0A" + std::string(10, '\1')))).expected,
            "PyTorch's magic number");
  EXPECT_EQ(file_refusal(bytes_of(old_header().substr(0, 15) + whole("K\1"))).expected,
            "PyTorch's protocol 1001");
  EXPECT_THAT(file_refusal(bytes_of("<html>")).hint, HasSubstr("torch.save"));
  EXPECT_THAT(file_refusal({}).hint, HasSubstr("cut short"));
}

TEST(TorchFileHostile, AFileWithoutStateDictSaysWhatItHolds) {
  EXPECT_EQ(refusal_of("K\1").found, "an integer");
  EXPECT_EQ(refusal_of("](" + tensor(six_values(), 0, {6}, {1}) + "e").found, "a list");
  EXPECT_EQ(refusal_of(dict({{"epoch", "K\1"}, {"net", "}"}})).found,
            "a dict with \"epoch\", \"net\"");
  const std::string state = dict({{"w", tensor(six_values(), 0, {6}, {1})}});
  EXPECT_EQ(refusal_of(dict({{"net", state}})).found, "a dict with \"net\"");
  EXPECT_EQ(refusal_of(dict({{"ema", dict({{"ema", dict({{"ema", state}})}})}})).found,
            "a dict with \"ema\"");
  EXPECT_EQ(refusal_of("}q\1" + text("model") + "h\1s").found, "a dict with \"model\"");
}

TEST(TorchFileHostile, NamesAreTextAndComeOnce) {
  const std::string w = tensor(six_values(), 0, {6}, {1});
  EXPECT_EQ(refusal_of(dict({{"w", w}, {"w", w}})).found, "\"w\" twice");
  EXPECT_EQ(refusal_of(dict({{"", w}})).expected, "names in UTF-8");
  EXPECT_EQ(refusal_of(dict({{"\xED\xA0\x80", w}})).expected, "names in UTF-8");
  EXPECT_EQ(refusal_of("}K\1" + w + "s").found, "an integer");
}

}  // namespace
}  // namespace stoker
