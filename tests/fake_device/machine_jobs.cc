// Jobs, events and their order: the rest of machine.h is in machine_memory.cc.
#include <algorithm>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "tests/fake_device/machine.h"

namespace stoker::fake {
namespace {

void join(Clock& to, const Clock& from) {
  for (const auto& [stream, ticket] : from) to[stream] = std::max(to[stream], ticket);
}

std::uint64_t digest_of(const std::byte* begin, std::size_t bytes) {
  return digest64({begin, bytes});
}

}  // namespace

std::string text_of(StreamName stream) {
  return fmt::format("stream {} of device {}", stream.number, stream.device);
}

void Machine::note(Fault fault, std::string text) {
  violations_.push_back({fault, std::move(text)});
}

void Machine::report(Fault fault, const std::string& text) {
  const std::lock_guard lock(mutex_);
  note(fault, text);
}

std::vector<Violation> Machine::take_violations() {
  const std::lock_guard lock(mutex_);
  return std::exchange(violations_, {});
}

void Machine::set_order(const Order& order) {
  const std::lock_guard lock(mutex_);
  order_ = order;
  random_ = Rng({.seed = order.seed.value_or(0)}, 0);
}

void Machine::check_order(const Block& block, const Touch& touch, StreamName stream,
                          const Clock& clock, const std::string& name) {
  const auto check = [&](StreamName other, const Use& use, const char* what) {
    if (other == stream) return;
    const auto known = clock.find(other);
    if ((known == clock.end() ? 0 : known->second) >= use.ticket) return;
    note(Fault::kUnordered,
         fmt::format("{} of {} {} block {} of {} bytes, without waiting for {} of {}, which {} it",
                     name, text_of(stream), touch.writes ? "writes" : "reads", block.number,
                     block.bytes, use.name, text_of(other), what));
  };
  check(block.writer, block.written, "writes");
  if (!touch.writes) return;
  for (const auto& [other, use] : block.read) check(other, use, "reads");
}

void Machine::call(StreamName stream, const std::string& name, const std::vector<Touch>& touches,
                   std::function<void()> run) {
  const std::lock_guard lock(mutex_);
  call(stream, touches, {.name = name, .blocks = {}, .pinned = {}, .run = std::move(run)});
}

void Machine::call_copy_from(StreamName stream, const std::string& name,
                             const std::vector<Touch>& touches, const void* host, std::size_t bytes,
                             std::function<void()> run) {
  const auto* const begin = static_cast<const std::byte*>(host);
  const PinnedUse use = {
      .begin = begin, .bytes = bytes, .digest = digest_of(begin, bytes), .name = name};
  const std::lock_guard lock(mutex_);
  call(stream, touches, {.name = name, .blocks = {}, .pinned = use, .run = std::move(run)});
}

void Machine::call(StreamName stream, const std::vector<Touch>& touches, Job job) {
  Stream& queue = streams_[stream];
  join(queue.clock, host_);
  const Ticket ticket = ++queue.called;
  queue.clock[stream] = ticket;
  job.called = ++calls_;
  ++devices_[stream.device].counters.jobs;
  for (const Touch& touch : touches) {
    if (touch.address == nullptr) continue;
    const std::shared_ptr<Block> block = block_at(touch.address);
    if (block == nullptr || block->freed) {
      note(Fault::kFreed,
           fmt::format("{} of {} uses memory that was freed", job.name, text_of(stream)));
      continue;
    }
    if (block->stream.device != stream.device) {
      note(Fault::kOtherDevice, fmt::format("{} of {} uses block {} of device {}", job.name,
                                            text_of(stream), block->number, block->stream.device));
    }
    check_order(*block, touch, stream, queue.clock, job.name);
    if (touch.writes) {
      block->writer = stream;
      block->written = {.ticket = ticket, .name = job.name};
      block->read.clear();
    } else {
      block->read[stream] = {.ticket = ticket, .name = job.name};
    }
    ++block->pending;
    job.blocks.push_back(block);
  }
  queue.queue.emplace_back(std::move(job));
}

Machine::Event Machine::record(StreamName stream) {
  const std::lock_guard lock(mutex_);
  Stream& queue = streams_[stream];
  join(queue.clock, host_);
  return {.stream = stream, .ticket = queue.called, .clock = queue.clock};
}

void Machine::block(const Event& event, StreamName stream) {
  const std::lock_guard lock(mutex_);
  Stream& queue = streams_[stream];
  join(queue.clock, event.clock);
  queue.clock[stream] = ++queue.called;
  queue.queue.emplace_back(Wait{.stream = event.stream, .ticket = event.ticket});
}

void Machine::throw_error() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Machine::wait(std::unique_lock<std::mutex>& lock, StreamName stream, Ticket ticket) {
  Stream& queue = streams_[stream];
  queue.wanted = std::max(queue.wanted, ticket);
  wanted_.notify_all();
  done_.wait(lock, [&] { return queue.done >= ticket; });
}

void Machine::wait_for(StreamName stream) {
  std::unique_lock lock(mutex_);
  ++devices_[stream.device].counters.host_waits;
  const Clock clock = streams_[stream].clock;
  wait(lock, stream, streams_[stream].called);
  join(host_, clock);
  throw_error();
}

void Machine::wait_for_device(int device) {
  std::vector<StreamName> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, stream] : streams_) {
      if (name.device == device) all.push_back(name);
    }
  }
  for (const StreamName name : all) wait_for(name);
}

void Machine::wait_for(const Event& event) {
  std::unique_lock lock(mutex_);
  ++devices_[event.stream.device].counters.host_waits;
  wait(lock, event.stream, event.ticket);
  join(host_, event.clock);
  throw_error();
}

bool Machine::is_idle(StreamName stream) { return has_happened(record(stream)); }

bool Machine::has_happened(const Event& event) {
  const std::lock_guard lock(mutex_);
  Stream& queue = streams_[event.stream];
  if (queue.done >= event.ticket) {
    join(host_, event.clock);
    return true;
  }
  queue.wanted = std::max(queue.wanted, queue.done + 1);
  wanted_.notify_all();
  return false;
}

// The thread that runs jobs. It has no settings of the callers, such as autograd's or autocast's.
void Machine::work() {
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  at::set_num_threads(1);
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return is_wanted(); });
    run_head(lock, next_stream());
    done_.notify_all();
  }
}

bool Machine::is_wanted() const {
  return std::ranges::any_of(
      streams_, [](const auto& each) { return each.second.done < each.second.wanted; });
}

bool Machine::can_run(const Stream& stream) const {
  if (stream.queue.empty()) return false;
  const auto* const wait = std::get_if<Wait>(&stream.queue.front());
  if (wait == nullptr) return true;
  const auto other = streams_.find(wait->stream);
  return other == streams_.end() || other->second.done >= wait->ticket;
}

// Late: of the stream that is waited for or, where that waits for another one, of the other one.
StreamName Machine::next_stream() {
  if (order_.seed) {
    std::vector<StreamName> ready;
    for (const auto& [name, stream] : streams_) {
      if (can_run(stream)) ready.push_back(name);
    }
    return ready[random_.uniform_int(static_cast<std::uint32_t>(ready.size()))];
  }
  StreamName name = std::ranges::find_if(streams_, [](const auto& each) {
                      return each.second.done < each.second.wanted;
                    })->first;
  while (!can_run(streams_[name])) name = std::get<Wait>(streams_[name].queue.front()).stream;
  return name;
}

void Machine::check_pinned(const PinnedUse& use) {
  if (digest_of(use.begin, use.bytes) == use.digest) return;
  report(Fault::kHostChanged,
         fmt::format("pinned memory changed between the call of {} and the copy", use.name));
}

void Machine::run_head(std::unique_lock<std::mutex>& lock, StreamName name) {
  Stream& stream = streams_[name];
  auto entry = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (auto* const job = std::get_if<Job>(&entry)) {
    for (const auto& [other, its] : streams_) {
      const auto* const head = its.queue.empty() ? nullptr : std::get_if<Job>(&its.queue.front());
      if (head == nullptr || head->called > job->called) continue;
      ++devices_[name.device].counters.overtaking;
      break;
    }
    lock.unlock();
    std::exception_ptr error;
    try {
      if (job->pinned) check_pinned(*job->pinned);
      job->run();
    } catch (...) {
      error = std::current_exception();
    }
    job->run = nullptr;  // with what it holds, which may come back here to be freed
    lock.lock();
    if (error && !error_) error_ = error;
    for (const std::shared_ptr<Block>& block : job->blocks) {
      if (--block->pending == 0 && block->freed) give_back(*block);
    }
  }
  ++stream.done;
}

}  // namespace stoker::fake
