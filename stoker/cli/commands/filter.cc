// `stoker filter`: images of edges, by the Sobel operator or a kernel of one's own.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/filter_image.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/output_files.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/cuda/gpu.h"
#include "stoker/image/decode.h"
#include "stoker/image/other_formats.h"
#include "stoker/image/png.h"
#include "stoker/kernels/sobel/sobel.h"
#include "stoker/report/contact_sheet.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

struct FilterFlags {
  std::string image;
  std::string sobel;
  std::string kernel;
  std::string output = "filter.png";
  std::string device = "auto";
  bool all = false;
  bool json = false;
  OutputFiles files;
};

// The decoder does not know the path.
[[noreturn]] void throw_with_path(ErrorDetails details, const std::string& path) {
  details.path = path;
  throw Error(std::move(details));
}

Image read_grey(const std::string& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // as for images of a folder
  const FileBytes file(path, "cannot read the image", kMostBytes);
  ImageDecoder decoder;
  const auto header = decoder.open(file.bytes());
  if (!header) throw_with_path(header.error(), path);
  auto decoded = decoder.decode({.channels = 1});
  if (!decoded) throw_with_path(decoded.error(), path);
  return Image(decoded->pixels);
}

// "f1 (sobel3)"
std::string title_of(const NamedFilter& filter) {
  if (filter.alias.empty()) return std::string(filter.name);
  return fmt::format("{} ({})", filter.name, filter.alias);
}

// The original and the five images beside each other, as the documents show them.
Image all_images(const Image& grey, const std::string& title, cuda::Gpu* gpu) {
  ContactRow row{.label = "", .images = {grey}};
  std::vector<std::string> titles = {"original"};
  for (const NamedFilter& filter : document_filters()) {
    row.images.push_back(filter_image(grey.view(), parse_filter(filter.name), gpu));
    titles.push_back(title_of(filter));
  }
  return contact_sheet({row}, {.zoom = 1, .title = title, .column_titles = titles});
}

FilterText filter_of(const FilterFlags& flags) {
  if (!flags.sobel.empty()) return parse_filter(flags.sobel);
  FilterText kernel = flags.kernel.empty() ? FilterText() : parse_kernel(flags.kernel);
  kernel.correlation_only = true;
  return kernel;
}

void print_json(const FilterFlags& flags, const FilterText& filter, const Image& image,
                const cuda::FoundGpu& device) {
  nlohmann::ordered_json json = {{"image", flags.image},
                                 {"out", flags.output},
                                 {"width", image.shape().width},
                                 {"height", image.shape().height},
                                 {"device", device.gpu == nullptr ? "cpu" : "cuda"},
                                 {"device_reason", device.reason}};
  if (!flags.all) {
    json["operation"] = filter.correlation_only ? "correlation" : "sobel";
    if (!filter.name.empty()) json["filter"] = filter.name;
    json["rows"] = filter.rows;
    json["columns"] = filter.columns;
    json["weights"] = filter.values;
  }
  fmt::print("{}\n", json_text(json));
}

void run(const FilterFlags& flags) {
  const int chosen = int{flags.all} + int{!flags.sobel.empty()} + int{!flags.kernel.empty()};
  if (chosen != 1) {
    throw UsageError("filter: give one of --sobel, --kernel and --all");
  }
  // Before the image: a mistake in the words costs nothing.
  const FilterText filter = filter_of(flags);
  flags.files.check({flags.output});
  const Image grey = read_grey(flags.image);
  const cuda::FoundGpu device = cuda::choose_gpu(flags.device);
  const std::string name = std::filesystem::path(flags.image).filename().string();
  const Image image = flags.all ? all_images(grey, name, device.gpu)
                                : filter_image(grey.view(), filter, device.gpu);
  write_png(flags.output, image.view());
  if (flags.json) return print_json(flags, filter, image, device);
  fmt::print("{}: {} x {}, computed on {} ({})\n", flags.output, image.shape().width,
             image.shape().height, device.gpu == nullptr ? "cpu" : "cuda",
             with_flags(device.reason));
}

std::string filter_names() {
  std::vector<std::string> names;
  for (const NamedFilter& filter : named_filters()) names.push_back(title_of(filter));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_filter_command(const Command& parent) {
  const Command command = parent.add_command("filter", "Filter an image: edges, or any kernel");
  auto flags = std::make_shared<FilterFlags>();
  command.add_option("image", flags->image, fmt::format("a {} file", kReadableFormats)).required();
  command.add_option("--sobel", flags->sobel,
                     "sqrt(Gx² + Gy²) of a filter and its transpose: " + filter_names() +
                         ", 1 to 4, or coefficients. These are \"1,2,1 x 1,0,-1\" (column x row) "
                         "or \"1,0,-1; 2,0,-2; 1,0,-1\". Of blur the correlation alone");
  command.add_option("--kernel", flags->kernel,
                     "the correlation with these coefficients, \"1 0 -1; 2 0 -2; 1 0 -1\"");
  command.add_flag("--all", flags->all, "the image and the documents' five filters side by side");
  command.add_option("--device", flags->device, "where to compute").one_of({"auto", "cpu", "cuda"});
  command.add_option("-o,--out", flags->output, "the PNG file to write");
  flags->files.add_to(command);
  command.add_flag("--json", flags->json, "print one JSON object");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
