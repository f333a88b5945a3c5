#include "batch_export.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nanobind/ndarray.h>

#include "interpreter.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::size_t kMostAxes = 5;  // sample, view, and three of the image

// Shape and strides, in elements.
struct Axes {
  std::size_t count = 1;
  std::array<std::int64_t, kMostAxes> shape{}, strides{};
};

Axes axes_of(const BatchField& field, std::uint32_t samples) {
  Axes axes{.count = field.shape.size() + 1};
  axes.shape[0] = samples;
  std::ranges::copy(field.shape, axes.shape.begin() + 1);
  std::int64_t stride = 1;
  for (std::size_t i = axes.count; i-- > 0;) {
    axes.strides[i] = stride;
    stride *= axes.shape[i];
  }
  // Samples lie behind each other even if there are none.
  if (axes.count > 1) axes.strides[0] = axes.strides[1] * axes.shape[1];
  return axes;
}

// (…, row, column, channel) shown as (…, channel, row, column).
void put_channels_first(Axes& axes) {
  const auto rotate = [&](std::array<std::int64_t, kMostAxes>& sides) {
    const auto end = sides.begin() + static_cast<std::ptrdiff_t>(axes.count);
    std::rotate(end - 3, end - 1, end);
  };
  rotate(axes.shape);
  rotate(axes.strides);
}

// DLPack's structures of version 0, which all libraries take (dmlc/dlpack,
// include/dlpack/dlpack.h).
struct DlDevice {
  std::int32_t type, number;
};
struct DlType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t axes;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};
constexpr std::int32_t kDlCpu = 1;
constexpr std::uint8_t kDlInt = 0, kDlUint = 1, kDlFloat = 2;

// Numbers of samples are given as int64: few libraries compute with uint64.
DlType type_of(FieldType type) {
  switch (type) {
    case FieldType::kU8:
      return {kDlUint, 8, 1};
    case FieldType::kF32:
      return {kDlFloat, 32, 1};
    case FieldType::kI64:
    case FieldType::kU64:
      break;
  }
  return {kDlInt, 64, 1};
}

struct FieldMemory {
  std::shared_ptr<HeldBatch> batch;
  void* data;
  Axes axes;
  DlType type;
};

FieldMemory memory_of(const std::shared_ptr<HeldBatch>& held, const std::string& name,
                      PixelAxes shown) {
  const Batch& batch = held->batch();
  const BatchField& field = batch.layout().field(name);
  // The memory is the reader's until it drops the batch: it may be written.
  auto* data = const_cast<std::byte*>(batch.pixels().data()) + field.offset;
  FieldMemory memory{held, data, axes_of(field, batch.size()), type_of(field.type)};
  const bool image = &field == &batch.layout().fields()[0];
  if (image && shown == PixelAxes::kChannelsFirst) put_channels_first(memory.axes);
  return memory;
}

// Everything that a DLPack consumer needs, until it calls the deleter.
struct ExportedTensor {
  DlManagedTensor managed;
  Axes axes;
  std::shared_ptr<HeldBatch> batch;
};

void delete_tensor(DlManagedTensor* managed) {
  delete static_cast<ExportedTensor*>(managed->context);
}

// Where nobody took the tensor, it goes with its capsule.
void delete_capsule(PyObject* capsule) noexcept {
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (managed != nullptr) managed->deleter(managed);
}

nb::object make_capsule(FieldMemory memory) {
  auto exported = std::make_unique<ExportedTensor>();
  exported->axes = memory.axes;
  exported->batch = std::move(memory.batch);
  exported->managed = {.tensor = {.data = memory.data,
                                  .device = {kDlCpu, 0},
                                  .axes = static_cast<std::int32_t>(exported->axes.count),
                                  .type = memory.type,
                                  .shape = exported->axes.shape.data(),
                                  .strides = exported->axes.strides.data(),
                                  .byte_offset = 0},
                       .context = exported.get(),
                       .deleter = delete_tensor};
  PyObject* capsule = PyCapsule_New(&exported->managed, "dltensor", delete_capsule);
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(exported.release());
  return nb::steal(capsule);
}

template <class Framework>
nb::object make_array(FieldMemory memory) {
  std::array<std::size_t, kMostAxes> shape{};
  std::ranges::copy(memory.axes.shape, shape.begin());
  auto owner = std::make_unique<std::shared_ptr<HeldBatch>>(std::move(memory.batch));
  const nb::capsule keeper(owner.get(), [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<HeldBatch>*>(pointer);
  });
  static_cast<void>(owner.release());
  const nb::ndarray<Framework> array(
      memory.data, memory.axes.count, shape.data(), keeper, memory.axes.strides.data(),
      nb::dlpack::dtype{memory.type.code, memory.type.bits, memory.type.lanes});
  return nb::cast(array, nb::rv_policy::reference);
}

nb::object make_field(const std::shared_ptr<HeldBatch>& held, const std::string& name,
                      const ExportOptions& options) {
  if (name == "name") {
    nb::list names;
    for (std::uint32_t slot = 0; slot < held->batch().size(); ++slot) {
      const std::string text = held->batch().name_of(slot);
      // Names of files need not be UTF-8.
      names.append(nb::steal(
          PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size()))));
    }
    return names;
  }
  FieldMemory memory = memory_of(held, name, options.axes);
  nb::object array = options.kind == ArrayKind::kNumpy ? make_array<nb::numpy>(std::move(memory))
                     : options.kind == ArrayKind::kCapsule
                         ? make_capsule(std::move(memory))
                         : make_array<nb::array_api>(std::move(memory));
  if (!options.converter.is_valid() || options.converter.is_none()) return array;
  return options.converter(array);
}

}  // namespace

HeldBatch::HeldBatch(Batch batch)
    : batch_(std::make_unique<Batch>(std::move(batch))), process_(process_generation()) {}

HeldBatch::~HeldBatch() {
  if (process_ != process_generation()) static_cast<void>(batch_.release());
}

nb::object export_batch(Batch batch, const ExportOptions& options) {
  const auto held = std::make_shared<HeldBatch>(std::move(batch));
  const auto count = static_cast<Py_ssize_t>(options.fields.size());
  nb::object tuple = nb::steal(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    nb::object field = make_field(held, options.fields[static_cast<std::size_t>(i)], options);
    PyTuple_SetItem(tuple.ptr(), i, field.release().ptr());
  }
  return tuple;
}

void check_fields(const BatchLayout& layout, const std::vector<std::string>& fields) {
  for (const std::string& name : fields) {
    if (name != "name") static_cast<void>(layout.field(name));
  }
}

}  // namespace stoker::python
