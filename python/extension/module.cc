// stoker._feed: the feed for Python. stoker/feed.py makes the class of it that programs use.
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "batch_export.h"
#include "feed_object.h"
#include "interpreter.h"
#include "own_data.h"
#include "stoker/core/data_order.h"
#include "stoker/core/digest.h"
#include "stoker/data/catalog.h"
#include "stoker/data/shards/shard_writer.h"
#include "stoker/store/open_store.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

// Python's classes of errors; never dropped, as the module itself.
struct ErrorTypes {
  nb::object error, sample_error, option_error;
};
ErrorTypes& error_types() {
  static auto* types = new ErrorTypes;
  return *types;
}

void raise(nb::handle type, const std::string& message) {
  PyErr_SetString(type.ptr(), message.c_str());
}

void raise_sample_error(const SampleError& error) {
  nb::object instance = error_types().sample_error(error.what());
  instance.attr("name") = error.sample_name();
  instance.attr("epoch") = error.place().epoch;
  instance.attr("position") = error.place().position;
  PyErr_SetObject(error_types().sample_error.ptr(), instance.ptr());
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const SampleError& error) {
    raise_sample_error(error);
  } catch (const OptionError& error) {
    raise(error_types().option_error, full_message(error.details()));
  } catch (const Error& error) {
    raise(error_types().error, full_message(error.details()));
  }
}

nb::object make_error_type(nb::module_& module, const char* name, nb::tuple bases,
                           const char* text) {
  nb::object type = nb::module_::import_("builtins").attr("type")(name, bases, nb::dict());
  type.attr("__module__") = "stoker";
  type.attr("__doc__") = text;
  module.attr(name) = type;
  return type;
}

void add_errors(nb::module_& module) {
  ErrorTypes& types = error_types();
  types.error = make_error_type(module, "Error", nb::make_tuple(nb::handle(PyExc_RuntimeError)),
                                "What the feed could not do. The message says what was expected.");
  types.option_error = make_error_type(module, "OptionError",
                                       nb::make_tuple(types.error, nb::handle(PyExc_ValueError)),
                                       "An option that is missing, or whose value cannot be used.");
  types.sample_error = make_error_type(
      module, "SampleError", nb::make_tuple(types.error),
      "A sample that could not be made: `name`, and its place, `epoch` and `position`.");
  nb::register_exception_translator(translate);
}

// Memory that torch has pinned for copies to a GPU, or that another library made.
class PythonMemory final : public BatchMemory {
 public:
  PythonMemory(SharedObject owner, std::uintptr_t address, std::size_t bytes)
      : owner_(std::move(owner)), bytes_(reinterpret_cast<std::byte*>(address), bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() noexcept override { return bytes_; }

 private:
  SharedObject owner_;
  std::span<std::byte> bytes_;
};

// `make(bytes)` gives (owner, address).
MakeBatchMemory memory_maker(nb::object make) {
  return [shared = share(std::move(make))](std::size_t bytes) -> std::unique_ptr<BatchMemory> {
    const nb::gil_scoped_acquire gil;
    try {
      const auto [owner, address] =
          nb::cast<std::pair<nb::object, std::uintptr_t>>((*shared)(bytes + kBatchAlignment));
      const std::uintptr_t aligned =
          (address + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
      return std::make_unique<PythonMemory>(share(owner), aligned, bytes);
    } catch (nb::python_error& error) {
      throw Error({.what = "cannot get memory for the batches in flight", .found = text_of(error)});
    }
  };
}

Normalisation normalisation_of(const std::vector<double>& mean, const std::vector<double>& std) {
  if (mean.size() > kMaxChannels || std.size() > kMaxChannels) {
    throw OptionError({.what = "too many numbers in `mean` or `std`",
                       .expected = fmt::format("at most {}, one for each channel", kMaxChannels)});
  }
  ChannelNumbers means{}, deviations{};
  deviations.fill(1);
  std::ranges::copy(mean, means.begin());
  std::ranges::copy(std, deviations.begin());
  return from_mean_and_deviation(means, deviations);
}

void add_options(nb::module_& module) {
  nb::class_<FeedOptions>(module, "Options")
      .def(nb::init<>())
      .def_rw("workers", &FeedOptions::workers)
      .def_rw("batch_size", &FeedOptions::batch_size)
      .def_rw("views", &FeedOptions::views)
      .def_rw("batches_per_epoch", &FeedOptions::batches_per_epoch)
      .def_rw("shuffle", &FeedOptions::shuffle)
      .def_rw("drop_last", &FeedOptions::drop_last)
      .def_rw("seed", &FeedOptions::seed)
      .def_rw("rank", &FeedOptions::rank)
      .def_rw("ranks", &FeedOptions::ranks)
      .def_rw("channels_last", &FeedOptions::channels_last)
      .def_rw("ring_batches", &FeedOptions::ring_batches)
      .def_rw("held_bytes", &FeedOptions::held_bytes)
      .def_rw("niceness", &FeedOptions::niceness)
      .def_rw("isolate", &FeedOptions::isolate)
      .def_rw("max_errors", &FeedOptions::max_errors)
      .def("set_bytes", [](FeedOptions& o) { o.pixel_type = PixelType::kU8; })
      .def("set_normalisation",
           [](FeedOptions& o, const std::vector<double>& mean, const std::vector<double>& std) {
             o.normalisation = normalisation_of(mean, std);
           })
      .def("set_framing",
           [](FeedOptions& o, bool antialias, bool exact) {
             o.framing = {.antialias = antialias ? Antialias::kOn : Antialias::kOff,
                          .exact_decode = exact};
           })
      .def("set_on_error",
           [](FeedOptions& o, int what) { o.on_error = static_cast<OnError>(what); })
      .def("set_memory",
           [](FeedOptions& o, nb::object make) { o.make_memory = memory_maker(make); })
      .def("set_place", [](FeedOptions& o, std::uint32_t epoch, std::uint64_t position) {
        o.begin = {.epoch = epoch, .position = position};
        o.epochs = std::numeric_limits<std::int32_t>::max();
      });
}

// What can be known of a feed before it starts. Throws Error where it could not start.
nb::dict describe(const std::shared_ptr<const Source>& source, const std::string& policy_text,
                  const FeedOptions& options, const std::vector<std::string>& fields) {
  const Policy policy = Policy::parse(policy_text);
  ImageShape shape;
  {
    const nb::gil_scoped_release released;
    shape = sample_shape(*source, policy);
  }
  const BatchPlan plan = plan_of(options, source->size());
  const std::span<const FieldInfo> numbers = source->fields();
  const BatchLayout layout({.image = shape,
                            .pixel_type = options.pixel_type,
                            .channels_last = options.channels_last,
                            .views = options.views,
                            .numbers = {numbers.begin(), numbers.end()}},
                           plan.capacity());
  check_fields(layout, fields);
  nb::dict result;
  result["policy"] = policy.text();
  result["batches"] = plan.batches_per_epoch();
  result["samples"] = plan.samples_per_epoch();
  result["shape"] = nb::make_tuple(shape.height, shape.width, shape.channels);
  result["batch_bytes"] = layout.bytes();
  return result;
}

FolderOptions folder_options(int channels, int depth) {
  return {.channels = channels, .depth = depth};
}

TableColumns table_columns(const std::map<std::string, std::vector<std::string>>& columns) {
  TableColumns table;
  const std::map<std::string, std::string*> single = {{"path", &table.path},
                                                      {"label", &table.label},
                                                      {"split", &table.split},
                                                      {"weight", &table.weight}};
  for (const auto& [role, names] : columns) {
    if (role == "labels") {
      table.labels = names;
    } else if (role == "targets") {
      table.targets = names;
    } else if (single.contains(role) && names.size() == 1) {
      *single.at(role) = names[0];
    } else {
      throw OptionError({.what = "cannot use `columns`",
                         .expected = "a name for path, label, split or weight, and a list of "
                                     "names for labels or targets",
                         .found = fmt::format("{} for {}", names.size(), role)});
    }
  }
  return table;
}

void add_sources(nb::module_& module) {
  nb::class_<Source>(module, "Source")
      .def("__len__", [](const Source& source) { return source.size(); })
      .def_prop_ro("classes", [](const Source& source) { return source.class_names(); })
      .def_prop_ro("channels", [](const Source& source) { return source.channels(); })
      .def("name", &Source::sample_name);
  module.def(
      "open_data",
      [](const std::string& name, const std::string& split, int channels, int depth,
         const std::map<std::string, std::vector<std::string>>& columns) {
        const nb::gil_scoped_release released;
        DataOptions options;
        options.images = folder_options(channels, depth);
        options.table = table_columns(columns);
        return std::const_pointer_cast<Source>(open_data(name, parse_split(split), options));
      },
      "name"_a, "split"_a, "channels"_a, "depth"_a, "columns"_a);
  module.def(
      "map_source",
      [](std::uint64_t size, nb::object fetch, std::vector<std::string> classes, std::string name,
         int channels) {
        return std::const_pointer_cast<Source>(
            make_map_source(size, std::move(fetch),
                            {.class_names = std::move(classes),
                             .name = std::move(name),
                             .images = folder_options(channels, 8)}));
      },
      "size"_a, "fetch"_a, "classes"_a, "name"_a, "channels"_a);
}

// (validity, offsets, data, data_bytes, first, length, wide)
using ChunkTuple = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uint64_t,
                              std::uint64_t, std::uint64_t, bool>;

std::vector<ArrowChunk> chunks_of(const std::vector<ChunkTuple>& tuples) {
  std::vector<ArrowChunk> chunks;
  for (const auto& [validity, offsets, data, data_bytes, first, length, wide] : tuples) {
    chunks.push_back({validity, offsets, data, data_bytes, first, length, wide});
  }
  return chunks;
}

// Copies numbers of 64 bits from Arrow's memory.
template <class Number>
std::vector<Number> numbers_at(std::uintptr_t address, std::uint64_t count) {
  const auto* first = reinterpret_cast<const Number*>(address);
  return count == 0 ? std::vector<Number>() : std::vector<Number>(first, first + count);
}

void add_arrow(nb::module_& module) {
  using Span = std::pair<std::uintptr_t, std::uint64_t>;
  module.def(
      "arrow_source",
      [](const std::vector<ChunkTuple>& files, const std::vector<ChunkTuple>& paths, Span labels,
         Span rows, nb::object owner, std::vector<std::string> classes, std::string name,
         int channels) {
        ArrowColumns columns{.files = chunks_of(files),
                             .paths = chunks_of(paths),
                             .labels = numbers_at<std::int64_t>(labels.first, labels.second),
                             .rows = numbers_at<std::uint64_t>(rows.first, rows.second)};
        return std::const_pointer_cast<Source>(
            make_arrow_source(std::move(columns), std::move(owner),
                              {.class_names = std::move(classes),
                               .name = std::move(name),
                               .images = folder_options(channels, 8)}));
      },
      "files"_a, "paths"_a, "labels"_a, "rows"_a, "owner"_a, "classes"_a, "name"_a, "channels"_a);
  module.def(
      "write_shards",
      [](const std::shared_ptr<Source>& source, const std::string& out, std::uint64_t shard_bytes,
         std::uint64_t seed) {
        const nb::gil_scoped_release released;
        const auto report =
            write_shards(*source, *open_store(out), {.shard_bytes = shard_bytes, .seed = seed});
        return std::make_tuple(report.samples, report.shards, report.bytes);
      },
      "source"_a, "out"_a, "shard_bytes"_a, "seed"_a);
}

nb::dict stats_of(const FeedStats& stats) {
  nb::dict stages;
  stages["store"] = stats.stages.store;
  stages["read"] = stats.stages.read;
  stages["augment"] = stats.stages.augment;
  stages["write"] = stats.stages.write;
  stages["blocked"] = stats.stages.blocked;
  nb::dict result;
  result["samples"] = stats.samples;
  result["seconds"] = stats.seconds;
  result["wait_share"] = stats.wait_share;
  result["stages"] = stages;
  result["ring_fill"] = stats.ring_fill;
  result["ring_batches"] = stats.ring_batches;
  return result;
}

nb::list faults_of(const std::vector<SampleFault>& faults) {
  nb::list result;
  for (const SampleFault& fault : faults) {
    result.append(nb::make_tuple(fault.index, fault.name, fault.reason, fault.place.epoch,
                                 fault.place.position));
  }
  return result;
}

void add_feed(nb::module_& module) {
  nb::class_<FeedObject>(module, "Feed")
      .def(
          "__init__",
          [](FeedObject* self, std::shared_ptr<Source> source, const std::string& policy,
             const FeedOptions& options, std::vector<std::string> fields, int kind,
             bool channels_first, nb::object converter) {
            new (self) FeedObject(
                std::move(source), policy, options,
                {.fields = std::move(fields),
                 .kind = static_cast<ArrayKind>(kind),
                 .axes = channels_first ? PixelAxes::kChannelsFirst : PixelAxes::kAsStored,
                 .converter = std::move(converter)});
          },
          "source"_a, "policy"_a, "options"_a, "fields"_a, "kind"_a, "channels_first"_a,
          "converter"_a.none())
      .def("next", &FeedObject::next)
      .def("close", &FeedObject::close)
      .def("stats", [](FeedObject& feed) { return stats_of(feed.stats()); })
      .def("faults", [](FeedObject& feed) { return faults_of(feed.faults()); })
      .def_prop_ro("workers", &FeedObject::workers);
  module.def("describe", describe, "source"_a, "policy"_a, "options"_a, "fields"_a);
}

// Of bytes, as `stoker bench feed` prints it.
void add_digest(nb::module_& module) {
  nb::class_<Digest>(module, "Digest")
      .def(nb::init<>())
      .def("add",
           [](Digest& digest, nb::object object) {
             Py_buffer view{};
             if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0)
               throw nb::python_error();
             digest.add(
                 {static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)});
             PyBuffer_Release(&view);
           })
      .def("hex", &Digest::hex);
}

}  // namespace

NB_MODULE(_feed, module) {
  // Objects of users may live until the process ends: that is no leak of ours.
  nb::set_leak_warnings(false);
  watch_forks();
  module.attr("data_order_version") = kDataOrderVersion;
  add_errors(module);
  add_options(module);
  add_sources(module);
  add_arrow(module);
  add_feed(module);
  add_digest(module);
  module.def("close_all", close_all_feeds);
  module.def("end", [] {
    close_all_feeds();
    note_end_of_interpreter();
  });
  nb::module_::import_("atexit").attr("register")(module.attr("end"));
}

}  // namespace stoker::python
