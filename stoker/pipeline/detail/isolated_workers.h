// IsolatedWorkers: a feed's samples made by processes instead of threads, for files that are not
// trusted. A codec that crashes, hangs, takes memory without end, opens a file or a socket costs
// the sample it was given, which is named with the reason and treated as OnError says; its process
// is replaced. Same bytes as with threads: the same code makes them.
//
//   dispatcher i ── reserves a place, reads the file ──▶ input memory and board of process i
//   process i    ── decodes, augments, writes into the batch ──▶ a Report on the PipeQueue
//   collector    ── finishes the place in the ring; replaces what died or took too long
//
// The program opens files; a process cannot. Batches and inputs lie in memory that all share, so no
// pixel is copied; only reports go through the pipe. Each process has a second file waiting, so it
// does not wait for the program between two samples.
//
// What is protected: files, network, other processes and this program's memory. What is not: the
// batches in flight themselves, into which all workers write; a codec that a file has taken over
// can put wrong pixels and labels there.
//
// No deadlock: only dispatchers wait for room in the ring, and nothing that finishes a place, not
// even one whose sample must be replaced, waits for a dispatcher.
//
// Threads of this object: one for each process and the collector; all end with it, as do all
// processes. The ring must have been stopped then.
#pragma once

#include <memory>
#include <vector>

#include "stoker/core/gate.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/telemetry.h"
#include "stoker/pipeline/watchdog.h"

namespace stoker::detail {

struct SampleRecipe;
struct Work;

class IsolatedWorkers {
 public:
  // One process for each element of `times` and `activities`. All references must outlive it.
  IsolatedWorkers(const Work& work, const SampleRecipe& recipe, const FeedOptions& options,
                  std::vector<WorkerTimes>& times, std::vector<WorkerActivity>& activities);
  ~IsolatedWorkers();

  // Its threads end when they have read the file that they are at; the ring is stopped already.
  void request_stop() noexcept;
  // Whether all have ended by then.
  [[nodiscard]] bool wait_until_ended(Gate::Clock::time_point deadline) noexcept;
  // For who leaves threads behind that still read: ends the processes.
  void end_processes() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoker::detail
