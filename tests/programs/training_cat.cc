// Test program: `training_cat OUT FLAGS…`, FLAGS as for `stoker train`, writes what such a run
// begins with and sees: the network's tensors (model.NAME), the training batches of each epoch
// (epoch.E.batch.B.x, normalised, and .labels) and the validation data (validation.x, .labels).
// tests/plates_test.py trains on them with PyTorch.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/cli/setting_flags.h"
#include "stoker/io/safetensors.h"
#include "stoker/nn/tensor_views.h"
#include "stoker/run/train_run.h"
#include "stoker/run/train_setup.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/training_feed.h"

namespace {

using stoker::NamedTensor;

void append_batches(const stoker::RunSettings& settings, const stoker::TrainData& data,
                    std::vector<NamedTensor>& out) {
  stoker::FeedOptions options = stoker::training_feed_options(data, settings.train);
  options.workers = 1;
  stoker::Feed feed(data.train, data.policy, options);
  const std::uint64_t per_epoch = feed.plan().batches_per_epoch();
  stoker::DeviceBatches batches(feed, at::kCPU, data.normalisation);
  while (const auto batch = batches.next()) {
    const std::string name =
        fmt::format("epoch.{}.batch.{}", batch->number / per_epoch, batch->number % per_epoch);
    out.push_back({name + ".x", batch->values.clone()});
    out.push_back({name + ".labels", batch->labels.clone()});
  }
}

void append_validation(const stoker::TrainData& data, std::vector<NamedTensor>& out) {
  stoker::Feed feed(data.validation, data.validation_policy,
                    {.workers = 1,
                     .batch_size = static_cast<std::uint32_t>(data.validation->size()),
                     .shuffle = false,
                     .normalisation = data.normalisation});
  stoker::DeviceBatches batches(feed, at::kCPU, data.normalisation);
  const auto all = batches.next();
  out.push_back({"validation.x", all->values.clone()});
  out.push_back({"validation.labels", all->labels.clone()});
}

void run(int count, char** arguments) {
  stoker::CommandLine line("train", "");
  const stoker::Command command = line.root();
  stoker::RunRequest request;
  stoker::RunSettings& settings = request.settings;
  stoker::add_settings(command, stoker::settings_of(settings));
  line.parse(count - 1, arguments + 1);  // what stands first is taken for the program's name
  request.given = stoker::given_settings(command, stoker::settings_of(settings));
  stoker::apply_named_settings(request);
  const stoker::TrainSetup setup = stoker::set_up(settings, request.given, {}, {});
  std::vector<NamedTensor> out;
  for (const NamedTensor& named : all_tensors(*setup.state.model)) {
    out.push_back({"model." + named.name, named.tensor.detach().clone()});
  }
  append_batches(settings, setup.data, out);
  append_validation(setup.data, out);
  stoker::write_safetensors(arguments[1], stoker::FileTensors(out).views());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: training_cat OUT FLAGS…\n", stderr);
    return 2;
  }
  try {
    run(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "training_cat: {}\n", error.what());
    return 1;
  }
}
