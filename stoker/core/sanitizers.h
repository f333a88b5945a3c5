#pragma once

// Which sanitizers the file is compiled with, 0 or 1. GCC and Clang say it in different ways.

#if defined(__has_feature)
#define STOKER_ASAN __has_feature(address_sanitizer)
#define STOKER_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define STOKER_ASAN 1
#else
#define STOKER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define STOKER_TSAN 1
#else
#define STOKER_TSAN 0
#endif
#endif
