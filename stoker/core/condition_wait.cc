// std::condition_variable::wait() for systems with GCC 11's C++ library, such as RHEL 9. GCC 12
// gave the function a new version (GLIBCXX_3.4.30), and it is the only one of that version which
// Stoker needs. The linker sends all calls here (--wrap, cmake/StokerCompile.cmake); the function
// of the library does the same.
#include <condition_variable>
#include <mutex>

#include <pthread.h>

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(  // NOLINT
    std::condition_variable* condition, std::unique_lock<std::mutex>* lock) noexcept;

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(  // NOLINT
    std::condition_variable* condition, std::unique_lock<std::mutex>* lock) noexcept {
  ::pthread_cond_wait(condition->native_handle(), lock->mutex()->native_handle());
}
