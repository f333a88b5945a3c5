/* Preloaded into a program, ends it with SIGKILL at one of its calls that change files below a folder.

   CRASH_UNDER  the folder, as an absolute path without links
   CRASH_AT     which of these moments, counted from 0: before each call, and amid each write(). Not set: none
   CRASH_COUNT  a file that gets a byte for each moment

   Seen are calls through the C library's functions below, which all of the program's own files go through. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* under;
static long crash_at = -1;
static int count = -1;
static atomic_long moment;

static ssize_t (*real_write)(int, const void*, size_t);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  under = getenv("CRASH_UNDER");
  if (getenv("CRASH_AT") != NULL) crash_at = atol(getenv("CRASH_AT"));
  if (getenv("CRASH_COUNT") != NULL) count = open(getenv("CRASH_COUNT"), O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* Whether the program must end now. */
static int is_the_moment(void) {
  if (count >= 0) (void)!real_write(count, ".", 1);
  return atomic_fetch_add(&moment, 1) == crash_at;
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int is_below(const char* path) {
  char whole[PATH_MAX * 2];
  if (under == NULL || path == NULL) return 0;
  if (path[0] != '/') {
    if (getcwd(whole, PATH_MAX) == NULL) return 0;
    strcat(whole, "/");
    strncat(whole, path, PATH_MAX - 1);
    path = whole;
  }
  return strncmp(path, under, strlen(under)) == 0;
}

static int is_file_below(int descriptor) {
  char link[64], path[PATH_MAX];
  struct stat status;
  if (under == NULL || fstat(descriptor, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static void before(const char* path) {
  if (is_below(path) && is_the_moment()) end();
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (!is_file_below(descriptor)) return real_write(descriptor, bytes, size);
  if (is_the_moment()) end();
  if (is_the_moment()) {
    (void)!real_write(descriptor, bytes, size / 2);
    end();
  }
  return real_write(descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (is_file_below(descriptor) && is_the_moment()) end();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int rename(const char* from, const char* to) {
  before(to);
  return ((int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename"))(from, to);
}

int unlink(const char* path) {
  before(path);
  return ((int (*)(const char*))dlsym(RTLD_NEXT, "unlink"))(path);
}

int mkdir(const char* path, mode_t mode) {
  before(path);
  return ((int (*)(const char*, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode);
}

int truncate(const char* path, off_t size) {
  before(path);
  return ((int (*)(const char*, off_t))dlsym(RTLD_NEXT, "truncate"))(path, size);
}

static int opened(const char* name, const char* path, int flags, mode_t mode) {
  if (flags & (O_CREAT | O_TRUNC)) before(path);
  return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name))(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened("open64", path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  if (strpbrk(mode, "wa") != NULL) before(path);
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen"))(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  if (strpbrk(mode, "wa") != NULL) before(path);
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen64"))(path, mode);
}
