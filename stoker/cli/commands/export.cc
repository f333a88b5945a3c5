// `stoker export`: weights in the format of another program.
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/output_files.h"
#include "stoker/cli/published_flags.h"
#include "stoker/core/error.h"
#include "stoker/io/torch_file.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/finite_weights.h"
#include "stoker/nn/graph/exported_file.h"
#include "stoker/nn/onnx/onnx_export.h"
#include "stoker/nn/tensor_views.h"
#include "stoker/nn/timm/timm_folder.h"
#include "stoker/nn/timm/timm_model.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

struct ExportFlags {
  std::string weights, out;
  std::string format;  // empty: as the ending of `out` says
  OnnxExportOptions onnx;
  PublishedFlags published;
  OutputFiles files;
};

std::string format_of(const ExportFlags& flags) {
  if (!flags.format.empty()) return flags.format;
  const std::string ending = std::filesystem::path(flags.out).extension().string();
  if (ending == ".onnx") return "onnx";
  if (ending == ".pt2") return "pt2";
  if (ending == ".pth" || ending == ".pt") return "pth";
  if (ending == ".safetensors") return "safetensors";
  throw Error({.what = "the file's name does not say which format is meant",
               .path = flags.out,
               .expected = "an ending of .onnx, .pt2, .pth, .pt or .safetensors",
               .hint = "Or name the format, e.g. --format onnx."});
}

void write_weights(const ExportFlags& flags, const std::string& format) {
  if (format == "onnx" || format == "pt2") {
    const LoadedModel loaded = flags.published.load(flags.weights);
    if (format == "onnx") {
      write_onnx(flags.out, *loaded.model, loaded.card, flags.onnx);
    } else {
      write_exported_network(flags.out, *loaded.model, loaded.card);
    }
    return;
  }
  if (format == "timm") {
    const LoadedModel loaded = flags.published.load(flags.weights);
    write_timm_folder(flags.out, *loaded.model, loaded.card);
    return;
  }
  const bool is_timm = timm_folder_of(flags.weights).has_value();
  if ((!flags.published.model.empty() || is_timm) && format == "safetensors") {
    const LoadedModel loaded = flags.published.load(flags.weights);
    save_model(flags.out, loaded.card, all_tensors(*loaded.model));
    return;
  }
  if (is_timm) {  // .pth by torchvision's names
    const std::vector<NamedTensor> tensors =
        all_tensors(*flags.published.load(flags.weights).model);
    write_torch_file(flags.out, FileTensors(tensors).views());
    return;
  }
  const WeightsFile weights(flags.weights);
  if (!flags.published.allow_nonfinite) require_finite(weights.tensors(), flags.weights);
  if (format == "pth") {
    write_torch_file(flags.out, weights.tensors());
  } else {
    write_safetensors(flags.out, weights.tensors(), weights.metadata());
  }
}

void run(ExportFlags flags) {
  const std::string format = format_of(flags);
  if ((flags.onnx.with_preprocessing || flags.onnx.int8) && format != "onnx") {
    throw Error({.what = flags.onnx.int8 ? "only ONNX files can have int8"
                                         : "only ONNX files can contain the preprocessing",
                 .path = flags.out,
                 .expected = "--format onnx, or a name that ends with .onnx",
                 .found = format});
  }
  if (format == "timm") {
    flags.files.check({flags.out + "/model.safetensors", flags.out + "/config.json"});
  } else {
    flags.files.check({flags.out});
  }
  flags.weights = weights_path(flags.weights);
  write_weights(flags, format);
  std::error_code no_size;  // of a device
  const auto bytes = std::filesystem::file_size(flags.out, no_size);
  fmt::print("{}: {}", flags.out, format);
  if (!no_size) fmt::print(", {:.1f} MB", static_cast<double>(bytes) / 1e6);
  fmt::print("\n");
}

}  // namespace

void add_export_command(const Command& parent) {
  const Command command =
      parent.add_command("export", "Export weights as ONNX, PyTorch, safetensors or for timm");
  auto flags = std::make_shared<ExportFlags>();
  command
      .add_option("weights,--weights", flags->weights,
                  "a run's folder, a folder with timm's config.json, a model file, or any "
                  "state_dict (.safetensors, .pth, .pt)")
      .required();
  command.add_option("-o,--out", flags->out, "file to write; of timm a folder").required();
  command
      .add_option("--format", flags->format,
                  "onnx: the network with its weights; pt2: the same for torch.export.load; "
                  "pth: a state_dict for torch.load; "
                  "safetensors: a model file where the network is known; timm: a folder for "
                  "timm.create_model(\"local-dir:FOLDER\"). Without it the ending of --out decides")
      .one_of({"onnx", "pt2", "pth", "safetensors", "timm"});
  command.add_flag("--with-preprocessing", flags->onnx.with_preprocessing,
                   "of ONNX: the network takes bytes (samples, height, width, channels) and "
                   "normalises them itself");
  command.add_flag("--int8", flags->onnx.int8,
                   "of ONNX: weights and what layers read are 8-bit integers; after `stoker "
                   "calibrate`");
  flags->published.add_to(command);
  flags->files.add_to(command);
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
