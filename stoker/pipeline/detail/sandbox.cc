#include "stoker/pipeline/detail/sandbox.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <linux/capability.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/core/sanitizers.h"

namespace stoker::detail {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw Error(
      {.what = fmt::format("cannot lock a worker process down: {}", what),
       .found = std::strerror(error),
       .hint = "Isolation needs Linux with seccomp; without `isolate`, threads do the work"});
}

// UBSan's check of virtual calls looks at memory through a pipe of its own; ASan asks for the
// signal stack before a function that does not return.
constexpr bool kSanitized = STOKER_ASAN;

std::size_t mapped_bytes() {
  unsigned long pages = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                             &std::fclose);
  if (file == nullptr || std::fscanf(file.get(), "%lu", &pages) != 1) {
    fail("its memory's size is not known", errno);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void set_limit(decltype(RLIMIT_AS) which, rlim_t value, const char* what) {
  const rlimit limit{.rlim_cur = value, .rlim_max = value};
  if (setrlimit(which, &limit) != 0) fail(what, errno);
}

// If memory runs out on the machine, the system should end this process and not the trainer. Where
// it may not be said, nothing is lost.
void offer_to_the_oom_killer() {
  std::FILE* file = std::fopen("/proc/self/oom_score_adj", "we");
  if (file == nullptr) return;
  std::fputs("1000", file);
  std::fclose(file);
}

// glibc's allocator reads two files when it first needs them, which the filter would punish: the
// CPUs in /sys before it makes another arena, and the system's overcommit policy before it makes an
// arena smaller. With a fixed number of arenas, and none that reaches the size to be trimmed (64 MB
// is all that fits into one of a thread), it needs neither. The two sizes are those that it would
// adjust itself to after the first large images.
void keep_allocator_from_files() {
  if (STOKER_ASAN || STOKER_TSAN) return;  // their allocators have no such settings
  constexpr int kMmapThreshold = 32 << 20, kTrimThreshold = 64 << 20;
  if (mallopt(M_ARENA_MAX, 1) != 1 || mallopt(M_MMAP_THRESHOLD, kMmapThreshold) != 1 ||
      mallopt(M_TRIM_THRESHOLD, kTrimThreshold) != 1) {
    fail("settings of the allocator", EINVAL);
  }
}

void set_limits(std::size_t memory_bytes) {
  set_limit(RLIMIT_AS, mapped_bytes() + memory_bytes, "memory");
  set_limit(RLIMIT_FSIZE, 0, "size of files");
  if (!kSanitized) set_limit(RLIMIT_NOFILE, 0, "open files");
  set_limit(RLIMIT_CORE, 0, "core files");
}

// All of them, for good: from the sets of this process, and from what a program could ever get.
void drop_capabilities() {
  // Whoever may not do this has none to drop; ends at the first number that the kernel lacks.
  for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) {
    ++capability;
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (syscall(SYS_capset, &header, none.data()) != 0) fail("capabilities", errno);
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)) {
    if (context_ == nullptr) fail("no filter", ENOMEM);
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void allow(int call) { add(call, {}); }
  // Only where the condition on an argument holds.
  void allow(int call, const scmp_arg_cmp& condition) { add(call, {&condition, 1}); }
  void load() {
    if (const int result = seccomp_load(context_); result != 0) fail("seccomp", -result);
  }

 private:
  void add(int call, std::span<const scmp_arg_cmp> conditions) {
    const int result =
        seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, call,
                               static_cast<unsigned>(conditions.size()), conditions.data());
    if (result != 0) fail("filter of system calls", -result);
  }

  scmp_filter_ctx context_;
};

void filter_system_calls() {
  Filter filter;
  // Results and sleep. Only the queue's pipe is open, so write() needs no further condition.
  for (const int call :
       {SCMP_SYS(write), SCMP_SYS(futex), SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield),
        SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep)}) {
    filter.allow(call);
  }
  // Memory, none of it executable.
  for (const int call : {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise)}) {
    filter.allow(call);
  }
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    filter.allow(call, {.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0});
  }
  // Ends: exit(), and abort(), which sends a signal to itself.
  for (const int call : {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(rt_sigprocmask), SCMP_SYS(getpid), SCMP_SYS(gettid)}) {
    filter.allow(call);
  }
  if (kSanitized) {
    filter.allow(SCMP_SYS(pipe2));
    filter.allow(SCMP_SYS(close));
    filter.allow(SCMP_SYS(sigaltstack));
  }
  filter.allow(
      SCMP_SYS(tgkill),
      {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = static_cast<scmp_datum_t>(getpid()), .datum_b = 0});
  filter.load();
}

const char* what_it_means(int signal) {
  switch (signal) {
    case SIGSYS:
      return ": system call not allowed";
    case SIGKILL:
      return ": by the system, perhaps for want of memory";
    default:
      return "";
  }
}

}  // namespace

void leave_namespaces() noexcept {
  // Also without a user namespace, which some systems do not allow: root may.
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
    unshare(CLONE_NEWNET | CLONE_NEWIPC);
  }
}

void lock_down(std::size_t memory_bytes) {
  offer_to_the_oom_killer();
  keep_allocator_from_files();
  set_limits(memory_bytes);
  drop_capabilities();
  // No other process of this user may look into this one.
  if (prctl(PR_SET_DUMPABLE, 0) != 0) fail("PR_SET_DUMPABLE", errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("PR_SET_NO_NEW_PRIVS", errno);
  filter_system_calls();
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* name = sigabbrev_np(signal);
    return fmt::format("killed by signal {} (SIG{}){}", signal, name != nullptr ? name : "?",
                       what_it_means(signal));
  }
  return fmt::format("its process ended by itself, with code {}", WEXITSTATUS(wait_status));
}

}  // namespace stoker::detail
