// What ranks ask of the store at which they meet: stub ranks, each a thread with a connection of
// its own to a real store, do what the start of a run and a failure do there. The groups of Gloo,
// which connect every rank with every other, are measured with fewer.
//
//     build/release/bench/rendezvous [RANKS …]     10 100 1000 by default
#define USE_C10D_GLOO
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "stoker/distributed/detail/attempt.h"
#include "stoker/distributed/detail/fault_report.h"
#include "stoker/distributed/detail/guarded_store.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/detail/process_group.h"
#include "stoker/distributed/detail/rank_texts.h"
#include "stoker/distributed/test_counting_store.h"
#include "stoker/distributed/test_ranks.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

constexpr milliseconds kTimeout{120'000};

// As the program opens them: rank 0 keeps the store, the others connect.
class Meeting {
 public:
  explicit Meeting(std::string secret)
      : port_(static_cast<std::uint16_t>(test::free_port())), secret_(std::move(secret)) {
    const int listener = detail::listen_at("127.0.0.1", port_);
    if (!secret_.empty()) {
      kept_ = detail::keep_store(listener, secret_, kTimeout).store;
    } else {
      c10d::TCPStoreOptions options = store_options();
      options.isServer = true;
      options.masterListenFd = listener;
      kept_ = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    }
  }

  [[nodiscard]] StorePointer open(int rank) const {
    StorePointer store = kept_;
    if (rank > 0 && !secret_.empty()) {
      store = detail::join_store("127.0.0.1", port_, secret_, kTimeout);
    } else if (rank > 0) {
      store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", store_options());
    }
    return c10::make_intrusive<test::CountingStore>(store, traffic);
  }
  [[nodiscard]] std::int64_t keys() const { return kept_->getNumKeys(); }

  std::shared_ptr<test::StoreTraffic> traffic = std::make_shared<test::StoreTraffic>();

 private:
  [[nodiscard]] c10d::TCPStoreOptions store_options() const {
    c10d::TCPStoreOptions options;
    options.port = port_;
    options.timeout = kTimeout;
    options.waitWorkers = false;
    return options;
  }

  std::uint16_t port_;
  std::string secret_;
  StorePointer kept_;
};

// What one thing that all ranks did took.
struct Phase {
  std::uint64_t requests = 0, bytes = 0;
  double seconds = 0;
};

// Each rank a thread; all begin a phase together.
class Ranks {
 public:
  using Step = std::function<void(int rank, StorePointer& store)>;

  Ranks(int ranks, Meeting& meeting, std::vector<Step> steps)
      : meeting_(meeting), steps_(std::move(steps)), together_(ranks, Noting{this}) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([this, rank] {
        StorePointer store;
        together_.arrive_and_wait();
        for (const Step& step : steps_) {
          step(rank, store);
          together_.arrive_and_wait();
        }
      });
    }
  }

  [[nodiscard]] Phase phase(std::size_t number) const {
    const Mark &from = marks_[number], &to = marks_[number + 1];
    return {to.requests - from.requests, to.bytes - from.bytes,
            std::chrono::duration<double>(to.time - from.time).count()};
  }

 private:
  struct Mark {
    Clock::time_point time;
    std::uint64_t requests, bytes;
  };
  struct Noting {
    Ranks* ranks;
    void operator()() const noexcept { ranks->note(); }
  };
  void note() noexcept {
    marks_.push_back({Clock::now(), meeting_.traffic->requests, meeting_.traffic->bytes});
  }

  Meeting& meeting_;
  std::vector<Step> steps_;
  std::vector<Mark> marks_;
  std::barrier<Noting> together_;
};

void measure_stubs(int ranks, const std::string& secret) {
  Meeting meeting(secret);
  const std::string own(60, 'x');  // host, address and a few CPUs
  const Ranks done(
      ranks, meeting,
      {[&](int rank, StorePointer& store) { store = meeting.open(rank); },
       [&](int rank, StorePointer& store) {
         const std::string attempt = detail::agree_on_attempt(store, rank, ranks, kTimeout);
         store = c10::make_intrusive<c10d::PrefixStore>(attempt, store);
       },
       [&](int rank, StorePointer& store) {
         static_cast<void>(detail::exchange_texts(*store, "about", rank, ranks, own));
       },
       [&](int rank, StorePointer& store) {
         const std::string error = rank == ranks / 2 ? "cannot read plates/17.jpg" : "";
         static_cast<void>(detail::exchange_fault_reports(
             store, rank, ranks, error, {milliseconds(5000), milliseconds(5000)}));
       }});
  const Phase agree = done.phase(1), names = done.phase(2), fault = done.phase(3);
  fmt::print("| {} | {} | {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.2f} | {} | {:.0f} | {:.2f} |\n",
             ranks, secret.empty() ? "c10d's" : "with a secret", meeting.keys(),
             agree.requests + names.requests, static_cast<double>(agree.bytes + names.bytes) / 1000,
             done.phase(0).seconds, agree.seconds, names.seconds, fault.requests,
             static_cast<double>(fault.bytes) / 1000, fault.seconds);
  std::fflush(stdout);
}

void measure_gloo(int ranks) {
  Meeting meeting("");
  std::vector<c10::intrusive_ptr<c10d::ProcessGroup>> groups(static_cast<std::size_t>(ranks));
  const Ranks done(ranks, meeting,
                   {[&](int rank, StorePointer& store) { store = meeting.open(rank); },
                    [&](int rank, StorePointer& store) {
                      groups[static_cast<std::size_t>(rank)] = detail::make_process_group(
                          store, {.rank = rank, .ranks = ranks},
                          {.timeout = kTimeout, .address = "127.0.0.1", .name = "ranks"});
                    }});
  const Phase made = done.phase(1);
  fmt::print("| {} | {} | {} | {:.0f} | {:.2f} |\n", ranks, meeting.keys(), made.requests,
             static_cast<double>(made.bytes) / 1000, made.seconds);
  std::fflush(stdout);
}

// Two descriptors for each rank.
void allow_many_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace
}  // namespace stoker

int main(int count, char** words) {
  stoker::allow_many_files();
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::atoi(words[i]));
  if (sizes.empty()) sizes = {10, 100, 1000};
  fmt::print(
      "| ranks | store | keys | start: requests | kB | connect, s | agree, s | names, s | failure: "
      "requests | kB | s |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const char* secret : {"", "0123456789abcdef0123456789abcdef"}) {
    for (const int ranks : sizes) stoker::measure_stubs(ranks, secret);
  }
  fmt::print("\n| ranks | keys | requests | kB | s |\n|---|---|---|---|---|\n");
  for (const int ranks : {4, 8, 16, 32, 64}) stoker::measure_gloo(ranks);
  std::_Exit(0);  // without Gloo's destructors
}
