// Locks the calling process down, for good, before it sees bytes that are not trusted: it can
// compute, take memory up to a limit, and write to descriptors that are open already. No file, no
// socket, no new process or program, no signal to another process. A system call outside the list
// ends the process with SIGSYS. It has no capabilities, also where the program runs as root.
//
// For a process with one thread, after everything that it needs is open.
#pragma once

#include <cstddef>
#include <string>

namespace stoker::detail {

// Puts the calling process, and those that it forks, into a user, a network and an IPC namespace of
// their own, where nothing is: no network device, nobody's rights. Where the system does not allow
// them, what lock_down() does has to suffice.
void leave_namespaces() noexcept;

// `memory_bytes` on top of what is mapped now. Throws Error where the system cannot do it: then the
// process must not go on.
void lock_down(std::size_t memory_bytes);

// How a process ended, for people: "killed by signal 31 (SIGSYS): system call not allowed".
[[nodiscard]] std::string describe_end(int wait_status);

}  // namespace stoker::detail
