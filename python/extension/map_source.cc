#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/tuple.h>

#include "own_data.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// In front of a sample's bytes, on their way to a thread or to a worker process, which has no
// interpreter.
struct Header {
  std::int64_t label = 0;
  std::int32_t height = 0, width = 0, channels = 0;  // height 0: the bytes of a file
  std::int32_t unused = 0;
};

// The bytes of a Python object, which stay where they are meanwhile.
class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

class MapSource final : public EncodedSource {
 public:
  MapSource(std::uint64_t size, nb::object fetch, OwnDataOptions options)
      : EncodedSource(options.images),
        size_(size),
        fetch_(share(std::move(fetch))),
        options_(std::move(options)) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return options_.class_names;
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("{}[{}]", options_.name, index);
  }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index,
                                           SampleBuffer& buffer) const override {
    auto bytes = read_bytes(index, [&](std::size_t size) -> std::span<std::byte> {
      buffer.file.resize(size);
      return buffer.file;
    });
    if (!bytes) return bytes.error();
    return header_of(*bytes).label;
  }

  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    if (!interpreter_runs()) return failed(index, "Python has ended");
    const nb::gil_scoped_acquire gil;
    try {
      return fetch(index, room);
    } catch (nb::python_error& error) {
      return failed(index, text_of(error));
    } catch (const Error& error) {
      return error.details();
    } catch (const std::exception& error) {  // a value of another type
      return failed(index, error.what());
    }
  }

  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override {
    const Header header = header_of(bytes);
    auto image = image_of(header, bytes.subspan(sizeof(Header)), request, buffer);
    if (image && request.framing == nullptr && image->shape != shape()) {
      return failed(index, fmt::format("an image of {} x {} pixels; the first one has {} x {}",
                                       image->shape.width, image->shape.height, shape().width,
                                       shape().height));
    }
    if (image) return Sample{.image = *image, .label = header.label};
    ErrorDetails error = image.error();
    error.path = sample_name(index);
    return error;
  }

 protected:
  [[nodiscard]] ImageShape find_shape() const override {
    SampleBuffer buffer;
    const auto bytes = read_bytes(0, [&](std::size_t size) -> std::span<std::byte> {
                         buffer.file.resize(size);
                         return buffer.file;
                       }).value();
    return image_of(header_of(bytes), bytes.subspan(sizeof(Header)), {}, buffer).value().shape;
  }

 private:
  [[nodiscard]] ErrorDetails failed(std::uint64_t index, std::string found) const {
    return {.what = "cannot get the sample", .path = sample_name(index), .found = std::move(found)};
  }

  [[nodiscard]] std::span<const std::byte> fetch(std::uint64_t index, const MakeRoom& room) const {
    const nb::object item = (*fetch_)(index);
    const auto [object, height, width, channels, label] =
        nb::cast<std::tuple<nb::object, std::int32_t, std::int32_t, std::int32_t, std::int64_t>>(
            item);
    const Header header{.label = label, .height = height, .width = width, .channels = channels};
    const Buffer pixels(object);
    const std::span<std::byte> out = room(sizeof(Header) + pixels.bytes().size());
    std::memcpy(out.data(), &header, sizeof(Header));
    if (!pixels.bytes().empty()) {
      std::memcpy(out.data() + sizeof(Header), pixels.bytes().data(), pixels.bytes().size());
    }
    return out;
  }

  [[nodiscard]] static Header header_of(std::span<const std::byte> bytes) {
    Header header;
    if (bytes.size() < sizeof(Header)) throw Error({.what = "a sample lost its header"});
    std::memcpy(&header, bytes.data(), sizeof(Header));
    return header;
  }

  // Without the check of its size, for which find_shape() needs it.
  [[nodiscard]] Result<ImageView> image_of(const Header& header, std::span<const std::byte> bytes,
                                           const FrameRequest& request,
                                           SampleBuffer& buffer) const {
    if (header.height == 0) return decode_file(bytes, request, buffer);
    const ImageShape shape{header.height, header.width, header.channels, 8};
    check_shape(shape);
    if (shape.channels != channels() || bytes.size() != shape.bytes()) {
      return ErrorDetails{
          .what = "cannot use the array",
          .expected = fmt::format("rows, columns and {} channels of bytes", channels()),
          .found = fmt::format("{} bytes for {} x {} x {}", bytes.size(), shape.height, shape.width,
                               shape.channels)};
    }
    const ImageView image{reinterpret_cast<const std::uint8_t*>(bytes.data()), shape,
                          shape.bytes_per_row()};
    if (request.framing == nullptr) return image;
    return frame_image(image, request, buffer);
  }

  std::uint64_t size_;
  SharedObject fetch_;
  OwnDataOptions options_;
};

}  // namespace

std::shared_ptr<const Source> make_map_source(std::uint64_t size, nb::object fetch,
                                              OwnDataOptions options) {
  return std::make_shared<MapSource>(size, std::move(fetch), std::move(options));
}

}  // namespace stoker::python
