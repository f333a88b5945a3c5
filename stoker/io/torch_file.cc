#include "stoker/io/torch_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/plain_text.h"
#include "stoker/io/detail/text.h"
#include "stoker/io/detail/torch_errors.h"
#include "stoker/io/detail/torch_storages.h"
#include "stoker/io/detail/torch_tensors.h"
#include "stoker/io/detail/zip_archive.h"
#include "stoker/io/pickle.h"

namespace stoker {
namespace {

using detail::fail_torch;
using detail::kDamagedTorchFile;
using detail::kSaveWeightsAlone;
using detail::printable;
using detail::TorchSource;
using detail::TorchStorages;
using detail::ZipArchive;
using detail::ZipRecord;
using Kind = PickleValue::Kind;

constexpr std::string_view kZipStart("PK\x03\x04", 4);
// 0x1950A86A20F9469CFC6C, the first of the old format's pickles, as a pickle keeps it.
constexpr std::string_view kMagic("\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", 10);
constexpr std::int64_t kOldProtocol = 1001;
// The format of today is 3; PyTorch reads up to 10.
constexpr int kFirstVersion = 1, kLastVersion = 10;

// A file's pickle with the storages that it names.
struct Contents {
  Pickle pickle;
  TorchStorages storages;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ---- The zip format: NAME/data.pkl, NAME/version, NAME/byteorder, and a NAME/data/KEY for each
// storage.

std::uint64_t place_of(std::span<const std::byte> part, const TorchSource& source) {
  return static_cast<std::uint64_t>(part.data() - source.bytes.data());
}

// NAME with the slash; the only one.
std::string archive_name(const ZipArchive& zip, const TorchSource& source) {
  constexpr std::string_view kEnding = "/data.pkl";
  std::optional<std::string> found;
  for (const ZipRecord& record : zip.records()) {
    const bool pickle = record.name.ends_with(kEnding) &&
                        record.name.find('/') == record.name.size() - kEnding.size();
    if (!pickle) continue;
    if (found) fail_torch(source.file, record.begin, "one data.pkl", "two", kDamagedTorchFile);
    found = record.name.substr(0, record.name.size() - kEnding.size() + 1);
  }
  if (!found) {
    fail_torch(source.file, 0, "an archive with a data.pkl", "one without",
               "Is this a file of torch.save?");
  }
  if (zip.find(*found + "constants.pkl") != nullptr) {
    fail_torch(source.file, 0, "a state_dict", "refused: a TorchScript program", kSaveWeightsAlone);
  }
  return *found;
}

std::span<const std::byte> record_bytes(const ZipArchive& zip, const std::string& name,
                                        const TorchSource& source) {
  const ZipRecord* record = zip.find(name);
  if (record == nullptr) {
    fail_torch(source.file, source.pickle_at, fmt::format("a record {}", printable(name)), "none",
               kDamagedTorchFile);
  }
  detail::check_zip_record(*record, source.bytes, source.file);
  return record->bytes;
}

void check_version(const ZipArchive& zip, const std::string& archive, const TorchSource& source) {
  const auto bytes = record_bytes(zip, archive + "version", source);
  const std::string_view text = as_text(bytes);
  int version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  if (version < kFirstVersion || version > kLastVersion) {
    fail_torch(source.file, place_of(bytes, source),
               fmt::format("version {} to {} of the format", kFirstVersion, kLastVersion),
               printable(text), "Save it with another version of PyTorch.");
  }
  if (zip.find(archive + "byteorder") == nullptr) return;
  const auto order = record_bytes(zip, archive + "byteorder", source);
  if (as_text(order) != "little") {
    fail_torch(source.file, place_of(order, source), "values in little-endian order",
               printable(as_text(order)), "Save it on a machine with that order.");
  }
}

void place_in_archive(TorchStorages& storages, const ZipArchive& zip, const std::string& archive,
                      const TorchSource& source) {
  for (auto& [key, storage] : storages) {
    const auto bytes = record_bytes(zip, fmt::format("{}data/{}", archive, key), source);
    if (bytes.size() != storage.expected_bytes) {
      fail_torch(source.file, place_of(bytes, source),
                 fmt::format("{} bytes in storage {}", storage.expected_bytes, printable(key)),
                 fmt::format("{}", bytes.size()), kDamagedTorchFile);
    }
    storage.bytes = bytes;
  }
}

Contents read_zip(TorchSource& source) {
  const ZipArchive zip(source.bytes, source.file);
  const std::string archive = archive_name(zip, source);
  check_version(zip, archive, source);
  const auto bytes = record_bytes(zip, archive + "data.pkl", source);
  source.pickle_at = place_of(bytes, source);
  Pickle pickle = parse_pickle(bytes, {.globals = detail::torch_globals(),
                                       .persistent = true,
                                       .file = source.file,
                                       .offset = source.pickle_at});
  TorchStorages storages = detail::named_storages(pickle, source);
  place_in_archive(storages, zip, archive, source);
  return {std::move(pickle), std::move(storages)};
}

// ---- The old format: five pickles (a magic number, the protocol, facts about the system, the
// state_dict, the storages' keys), then the storages.

Pickle next_pickle(const TorchSource& source, std::uint64_t* at, PickleOptions options = {}) {
  options.file = source.file;
  options.offset = *at;
  Pickle pickle = parse_pickle(source.bytes.subspan(*at), options);
  *at += pickle.bytes();
  return pickle;
}

void check_old_header(const TorchSource& source, std::uint64_t* at) {
  const Pickle magic = next_pickle(source, at);
  if (magic.root().kind != Kind::kLong || magic.text(magic.root()) != kMagic) {
    fail_torch(source.file, 0, "PyTorch's magic number", "another value",
               "Is this a file of torch.save?");
  }
  const std::uint64_t protocol_at = *at;
  const Pickle protocol = next_pickle(source, at);
  if (protocol.root().kind != Kind::kInteger || protocol.root().integer != kOldProtocol) {
    fail_torch(source.file, protocol_at, fmt::format("PyTorch's protocol {}", kOldProtocol),
               "another", "Save it with another version of PyTorch.");
  }
  // The machine's byte order and sizes: values are little-endian whatever it was.
  (void)next_pickle(source, at);
}

std::vector<std::string_view> storage_keys(const Pickle& pickle, std::uint64_t at,
                                           const TorchSource& source) {
  const auto fail = [&](Kind kind) {
    fail_torch(source.file, at, "a list of the storages' keys", std::string(kind_name(kind)),
               kDamagedTorchFile);
  };
  if (pickle.root().kind != Kind::kList) fail(pickle.root().kind);
  std::vector<std::string_view> keys;
  for (const PickleValue& key : pickle.items(pickle.root())) {
    if (key.kind != Kind::kText) fail(key.kind);
    keys.push_back(pickle.text(key));
  }
  return keys;
}

Contents read_old_format(TorchSource& source) {
  std::uint64_t at = 0;
  check_old_header(source, &at);
  source.pickle_at = at;
  Pickle pickle =
      next_pickle(source, &at, {.globals = detail::torch_globals(), .persistent = true});
  TorchStorages storages = detail::named_storages(pickle, source);
  const std::uint64_t keys_at = at;
  const Pickle keys = next_pickle(source, &at);
  detail::place_storages(storages, storage_keys(keys, keys_at, source), at, source);
  return {std::move(pickle), std::move(storages)};
}

// ---- The state_dict.

struct StateDict {
  PickleValue dict;
  std::string part;
};

// In the order in which they are looked for. Checkpoints of common training scripts use these.
constexpr std::array<std::string_view, 4> kParts = {"state_dict", "model", "model_state_dict",
                                                    "ema"};
constexpr int kMaxParts = 2;  // one inside the other
constexpr std::size_t kMaxTensors = 100'000;

bool has_tensor(const Pickle& pickle, const PickleValue& dict) {
  return std::ranges::any_of(pickle.items(dict), [&](const PickleValue& value) {
    return detail::is_tensor(pickle, value);
  });
}

// Of a key that comes twice the last, as in Python.
const PickleValue* find_dict(const Pickle& pickle, const PickleValue& dict, std::string_view key) {
  const auto items = pickle.items(dict);
  for (std::size_t i = items.size(); i >= 2; i -= 2) {
    const PickleValue &name = items[i - 2], &value = items[i - 1];
    if (name.kind != Kind::kText || pickle.text(name) != key) continue;
    return value.kind == Kind::kDict ? &value : nullptr;
  }
  return nullptr;
}

// A named part before the dict itself: a checkpoint may have tensors beside its state_dict, such as
// the best accuracy.
std::optional<StateDict> find_state_dict(const Pickle& pickle, const PickleValue& value,
                                         int parts_left) {
  if (value.kind != Kind::kDict) return std::nullopt;
  for (const std::string_view key : kParts) {
    const PickleValue* inner = parts_left > 0 ? find_dict(pickle, value, key) : nullptr;
    if (inner == nullptr) continue;
    if (auto found = find_state_dict(pickle, *inner, parts_left - 1)) {
      found->part = found->part.empty() ? std::string(key) : fmt::format("{}.{}", key, found->part);
      return found;
    }
  }
  // A file of nothing holds no weights, and nothing that is not.
  const bool nothing = parts_left == kMaxParts && pickle.items(value).empty();
  if (!nothing && !has_tensor(pickle, value)) return std::nullopt;
  return StateDict{.dict = value, .part = ""};
}

// "a dict with epoch, optimizer and 3 more".
std::string describe(const Pickle& pickle) {
  if (pickle.root().kind != Kind::kDict) return std::string(kind_name(pickle.root().kind));
  const auto items = pickle.items(pickle.root());
  if (items.empty()) return "an empty dict";
  constexpr std::size_t kShown = 8;
  std::string text = "a dict with ";
  for (std::size_t i = 0; i + 1 < items.size() && i < 2 * kShown; i += 2) {
    if (i > 0) text += ", ";
    text += items[i].kind == Kind::kText ? printable(pickle.text(items[i]))
                                         : std::string(kind_name(items[i].kind));
  }
  if (items.size() > 2 * kShown) text += fmt::format(" and {} more", items.size() / 2 - kShown);
  return text;
}

// The tensors of a dict. A key that comes twice is refused before its text is copied: a pickle can
// name one long text, or one tensor, any number of times.
std::vector<TensorView> make_tensors(const Pickle& pickle, const PickleValue& dict,
                                     detail::TensorMaker& maker, const TorchSource& source) {
  const auto fail = [&](std::string expected, std::string found) {
    fail_torch(source.file, source.pickle_at, std::move(expected), std::move(found),
               "Save the state_dict with a name in UTF-8 for each tensor.");
  };
  std::vector<TensorView> tensors;
  std::set<std::string_view> names;
  const auto items = pickle.items(dict);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!detail::is_tensor(pickle, items[i + 1])) continue;
    if (items[i].kind != Kind::kText) {
      fail("text as names of tensors", std::string(kind_name(items[i].kind)));
    }
    const std::string_view name = pickle.text(items[i]);
    if (name.empty() || !is_utf8(name)) fail("names in UTF-8", printable(name));
    if (!names.insert(name).second) fail("each name once", printable(name) + " twice");
    if (tensors.size() == kMaxTensors) fail(fmt::format("at most {} tensors", kMaxTensors), "more");
    tensors.push_back(maker.make(std::string(name), items[i + 1]));
  }
  return tensors;
}

// Places by name. Sorted and not hashed: names made to collide cannot make it slow.
std::vector<std::size_t> sorted_by_name(const std::vector<TensorView>& tensors) {
  std::vector<std::size_t> places(tensors.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {},
                    [&](std::size_t i) -> const std::string& { return tensors[i].name; });
  return places;
}

}  // namespace

TorchFile::TorchFile(const std::filesystem::path& path) {
  FileBytes file(path);
  *this = parse_torch_file(file.bytes(), path.string());
  file_ = std::move(file);
}

const TensorView* TorchFile::find(std::string_view name) const& noexcept {
  const auto name_at = [&](std::size_t place) -> std::string_view { return tensors_[place].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_at);
  return found == by_name_.end() || name_at(*found) != name ? nullptr : &tensors_[*found];
}

TorchFile parse_torch_file(std::span<const std::byte> bytes, const std::string& name) {
  TorchSource source{.bytes = bytes, .file = name};
  const bool zip = as_text(bytes).starts_with(kZipStart);
  const Contents contents = zip ? read_zip(source) : read_old_format(source);
  const Pickle& pickle = contents.pickle;
  const auto found = find_state_dict(pickle, pickle.root(), kMaxParts);
  if (!found) {
    fail_torch(name, source.pickle_at,
               fmt::format("a dict of tensors, or one in it as {}, {}, {} or {}", kParts[0],
                           kParts[1], kParts[2], kParts[3]),
               describe(pickle), "Save it with Python: torch.save(model.state_dict(), FILE)");
  }
  TorchFile file;
  file.part_ = found->part;
  detail::TensorMaker maker(pickle, contents.storages, source);
  file.tensors_ = make_tensors(pickle, found->dict, maker, source);
  file.copies_ = maker.take_copies();
  file.by_name_ = sorted_by_name(file.tensors_);
  return file;
}

bool looks_like_torch_file(std::span<const std::byte> bytes) noexcept {
  const std::string_view text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 64)));
  // The magic number: the first bytes of a pickle could also be a length of something else.
  return text.starts_with(kZipStart) || text.find(kMagic) != std::string_view::npos;
}

}  // namespace stoker
