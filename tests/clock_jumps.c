/* Preloaded into a program, makes the clock of the day jump: by an hour back and forth, and by a day.

   CLOCK_JUMP_MS  time between two jumps; all processes jump together
   The steady clock stays. Waits until a time of the day are the kernel's, which knows of no jump: a program that
   makes one of them after a jump forward waits for an hour, as it does where the clock is set back during the wait. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int (*real_clock)(clockid_t, struct timespec*);
static long long between_ms = 250;

__attribute__((constructor)) static void begin(void) {
  real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  if (getenv("CLOCK_JUMP_MS") != NULL) between_ms = atoll(getenv("CLOCK_JUMP_MS"));
}

static long offset_seconds(void) {
  static const long offsets[] = {0, 3600, -3600, 86400, 3600};
  struct timespec steady;
  real_clock(CLOCK_MONOTONIC, &steady);
  const long long ms = steady.tv_sec * 1000LL + steady.tv_nsec / 1000000;
  return offsets[ms / between_ms % 5];
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (real_clock == NULL) begin(); /* called by another library's constructor */
  const int result = real_clock(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)) {
    time->tv_sec += offset_seconds();
  }
  return result;
}

int gettimeofday(struct timeval* time, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec* time, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}
