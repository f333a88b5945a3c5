#include "stoker/distributed/group.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "stoker/distributed/detail/cpu_share.h"
#include "stoker/distributed/detail/fault_report.h"
#include "stoker/distributed/detail/handles.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/detail/process_group.h"
#include "stoker/distributed/detail/rank_texts.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeastPatience{1000}, kMostPatience{5000};
constexpr milliseconds kMargin{250};  // for all that is neither waiting nor asking who is missing

constexpr const char* kPerhapsSecret =
    "If rank 0 has a `dist_secret_file` or STOKER_DIST_SECRET, this rank needs the same";

std::string reason_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  return text.substr(0, text.find("\nException raised from"));
}

}  // namespace

Group::Pending::Pending(Group& group, const char* what, c10::intrusive_ptr<c10d::Work> work)
    : group_(group), what_(what), work_(std::move(work)) {}
Group::Pending::Pending(Pending&&) noexcept = default;
Group::Pending::~Pending() = default;

void Group::Pending::wait() {
  group_.guarded(what_, [&] { work_->wait(); });
}

Group::Group(const Launch& launch, const GroupOptions& options)
    : launch_(launch),
      device_(options.device),
      patience_(std::clamp(options.timeout / 5, kLeastPatience, kMostPatience)),
      operation_(std::max(options.timeout - patience_ - kMargin, kLeastPatience)),
      address_(options.interface.empty()
                   ? detail::address_towards(launch_.master_address, launch_.master_port)
                   : detail::address_of_interface(options.interface)),
      names_(static_cast<std::size_t>(launch.ranks)),
      handles_(std::make_unique<Handles>()) {
  // A rank that writes to one that has died must get an error, not die too.
  std::signal(SIGPIPE, SIG_IGN);
  // c10d warns with pages of addresses of what our errors say in a line.
  if (!environment_variable("TORCH_CPP_LOG_LEVEL")) FLAGS_caffe2_log_level = c10::GLOG_ERROR;
  try {
    connect(options);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = reason_of(error);
    throw GroupError({.what = fmt::format("rank {} of {} ({}, {}) did not meet the others at {}:{}",
                                          rank(), ranks(), detail::host_name(), address_,
                                          launch_.master_address, launch_.master_port),
                      .expected = fmt::format("{} ranks, from {}", ranks(), launch_.launcher),
                      .found = handles_->store ? verdict("") + "; c10d says: " + reason : reason,
                      .hint = options.secret.empty() && rank() != 0 ? kPerhapsSecret : ""});
  }
}

Group::~Group() = default;

void Group::connect(const GroupOptions& options) {
  handles_->store = detail::meet(launch_, address_, options.secret, operation_);
  // The name of the meeting place may have moved to another network since.
  if (rank() != 0 && options.interface.empty()) {
    address_ = detail::address_towards(launch_.master_address, launch_.master_port);
  }
  handles_->ranks = new_process_group("ranks");
  learn_about_others();
}

c10::intrusive_ptr<c10d::ProcessGroup> Group::new_process_group(const char* name) {
  const std::set<int> before = detail::tcp_connections(launch_.master_port);
  auto made = detail::make_process_group(
      handles_->store, launch_,
      {.timeout = operation_, .address = address_, .device = device_, .name = name});
  std::ranges::set_difference(detail::tcp_connections(launch_.master_port), before,
                              std::inserter(connections_, connections_.end()));
  return made;
}

void Group::open_statistics() {
  guarded("opening a group for statistics",
          [&] { handles_->statistics = new_process_group("statistics"); });
}

void Group::learn_about_others() {
  const std::string own =
      fmt::format("{}, {}\n{}", detail::host_name(), address_, detail::own_cpus_text());
  std::vector<std::string> cpus;
  const auto texts = detail::exchange_texts(*handles_->store, "about", rank(), ranks(), own);
  for (std::size_t other = 0; other < texts.size(); ++other) {
    const std::size_t line_end = std::min(texts[other].find('\n'), texts[other].size());
    names_[other] = texts[other].substr(0, line_end);
    cpus.push_back(texts[other].substr(std::min(line_end + 1, texts[other].size())));
  }
  if (!launch_.own_cpus) launch_.cpu_share = detail::cpu_share(cpus, rank());
}

std::string Group::name_of(int rank) const {
  const std::string& name = names_[static_cast<std::size_t>(rank)];
  return name.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} ({})", rank, name);
}

void Group::guarded(const char* what, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error&) {
    throw;
  } catch (const InvariantError&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(what, reason_of(error));
  }
}

Group::Pending Group::start_sum(const at::Tensor& tensor, const char* what) {
  c10::intrusive_ptr<c10d::Work> work;
  guarded(what, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    work = handles_->ranks->allreduce(tensors);
  });
  return {*this, what, std::move(work)};
}

void Group::sum_statistics(const at::Tensor& tensor) {
  guarded("shared statistics of a batch", [&] {
    std::vector<at::Tensor> tensors = {tensor};
    handles_->statistics->allreduce(tensors)->wait();
  });
}

void Group::broadcast(const at::Tensor& tensor, const char* what) {
  guarded(what, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    handles_->ranks->broadcast(tensors)->wait();
  });
}

std::vector<at::Tensor> Group::gather(const at::Tensor& mine, const char* what) {
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < ranks(); ++i) outputs[0].push_back(at::empty_like(mine));
  guarded(what, [&] {
    std::vector<at::Tensor> inputs = {mine};
    handles_->ranks->allgather(outputs, inputs)->wait();
  });
  return outputs[0];
}

std::string Group::share_text(const std::string& name, const std::string& rank_0s) {
  std::string text = rank_0s;
  guarded("a text from rank 0", [&] {
    if (rank() == 0) {
      handles_->store->set("text/" + name, rank_0s);
    } else {
      text = handles_->store->get_to_str("text/" + name);
    }
  });
  return text;
}

std::string Group::verdict(const std::string& own_error) {
  // A rank sees only that its neighbours in a sum are gone. So the end of ours ends theirs, and all
  // know within milliseconds.
  detail::shut_down(connections_);
  const bool keeps_store = rank() == 0 && !launch_.agent_keeps_store;
  const detail::FaultReport report =
      detail::exchange_fault_reports(handles_->store, rank(), ranks(), own_error,
                                     {patience_, keeps_store ? operation_ : patience_});
  std::vector<std::string> lines;
  for (const auto& [other, text] : report.failed) {
    lines.push_back(fmt::format("{} failed: {}", name_of(other), text));
  }
  if (!lines.empty()) return fmt::format("{}", fmt::join(lines, "; "));
  if (!report.store_answers) {
    return fmt::format("{} at {}:{} does not answer: it has ended or cannot be reached",
                       launch_.agent_keeps_store ? "the launcher's store" : name_of(0),
                       launch_.master_address, launch_.master_port);
  }
  for (const int other : report.silent) lines.push_back(name_of(other));
  if (lines.size() == detail::kMostSilent) lines.emplace_back("perhaps more");
  if (lines.empty()) return "all ranks still answer: the connection between some of them broke";
  return fmt::format("{} {} silent: ended, hanging or cut off", fmt::join(lines, ", "),
                     lines.size() == 1 ? "is" : "are");
}

void Group::fail(const char* what, const std::string& reason) {
  const std::string found = verdict("");
  throw GroupError({.what = fmt::format("{} lost the other ranks in: {}", name_of(rank()), what),
                    .expected = fmt::format("all {} ranks to take part", ranks()),
                    .found = found,
                    .hint = fmt::format("c10d says: {}", reason)});
}

void Group::tell_failure(const std::string& message) noexcept {
  try {
    static_cast<void>(verdict(message));
  } catch (...) {
    // Nothing more can be told.
  }
}

void Group::leave() {
  guarded("the end", [&] {
    const auto count = [&] { return handles_->store->add("left", 0); };
    handles_->store->add("left", 1);
    if (rank() != 0) return;
    const auto deadline = std::chrono::steady_clock::now() + operation_;
    while (count() < ranks() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  });
}

}  // namespace stoker
