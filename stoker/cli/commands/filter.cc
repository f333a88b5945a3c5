// `stoker filter`: pictures of edges, by the Sobel operator or a kernel of one's own.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/filter_picture.h"
#include "stoker/core/error.h"
#include "stoker/image/decode.h"
#include "stoker/image/png.h"
#include "stoker/report/contact_sheet.h"

namespace stoker {
namespace {

struct FilterFlags {
  std::string image;
  std::string sobel;
  std::string kernel;
  std::string output = "filter.png";
  bool all = false;
};

// The decoder does not know the path.
[[noreturn]] void throw_with_path(ErrorDetails details, const std::string& path) {
  details.path = path;
  throw Error(std::move(details));
}

Image read_grey(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && bytes.empty()) {
    throw Error(
        {.what = "cannot read the image", .path = path, .expected = "a JPEG, PNG or WebP file"});
  }
  ImageDecoder decoder;
  const auto header = decoder.open(std::as_bytes(std::span(bytes)));
  if (!header) throw_with_path(header.error(), path);
  auto decoded = decoder.decode({.channels = 1});
  if (!decoded) throw_with_path(decoded.error(), path);
  return Image(decoded->pixels);
}

// The original and the five pictures beside each other, as the documents show them.
Image all_pictures(const Image& grey, const std::string& title) {
  ContactRow row{.label = "", .images = {grey}};
  std::vector<std::string> titles = {"original"};
  for (const NamedFilter& filter : named_filters()) {
    row.images.push_back(filter_picture(grey.view(), filter));
    titles.emplace_back(filter.name);
  }
  return contact_sheet({row}, {.zoom = 1, .title = title, .column_titles = titles});
}

void run(const FilterFlags& flags) {
  const int chosen = int{flags.all} + int{!flags.sobel.empty()} + int{!flags.kernel.empty()};
  if (chosen != 1) {
    throw CLI::ValidationError("filter", "give one of --sobel, --kernel and --all");
  }
  // Before the image: a mistake in the words costs nothing.
  const NamedFilter* named = flags.sobel.empty() ? nullptr : &named_filter(flags.sobel);
  const KernelText kernel = flags.kernel.empty() ? KernelText() : parse_kernel(flags.kernel);
  const Image grey = read_grey(flags.image);
  const std::string name = std::filesystem::path(flags.image).filename().string();
  const Image picture = flags.all          ? all_pictures(grey, name)
                        : named != nullptr ? filter_picture(grey.view(), *named)
                                           : correlation_picture(grey.view(), kernel.plane());
  write_png(flags.output, picture.view());
  fmt::print("{}: {} x {}\n", flags.output, picture.shape().width, picture.shape().height);
}

std::string filter_names() {
  std::vector<std::string_view> names;
  for (const NamedFilter& filter : named_filters()) names.push_back(filter.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_filter_command(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("filter", "Write a picture of an image's edges, or of any kernel");
  auto flags = std::make_shared<FilterFlags>();
  command->add_option("image", flags->image, "a JPEG, PNG or WebP file")->required();
  command->add_option("--sobel", flags->sobel,
                      "sqrt(Gx² + Gy²) of a filter and its transpose: " + filter_names() +
                          " (blur: the correlation alone)");
  command->add_option("--kernel", flags->kernel,
                      "the correlation with these numbers, \"1 0 -1; 2 0 -2; 1 0 -1\"");
  command->add_flag("--all", flags->all, "the image and all named filters side by side");
  command->add_option("-o,--out", flags->output, "the PNG file to write")->capture_default_str();
  command->callback([flags] { run(*flags); });
}

}  // namespace stoker
