/*
 * For LD_PRELOAD: lets system calls of a program fail, and moves its clock, as a test says while the program runs (failing-calls.ts).
 *
 *   FAILING_CALLS  a file of 4096 bytes, mapped and read at each call: lines, then zeros
 *
 * A line is the name of a kind of calls, an error number and a part of the path of files that it concerns: "sync 5 /blobs/". The line
 * "clock 3600 -" sets the time of day ahead by so many seconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { rulesSize = 4096 };
static const char *rules;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAILING_CALLS");
  int file = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, rulesSize, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) rules = mapped;
  syscall(SYS_close, file);
}

/* Calls visit for each rule of a kind until it returns something. */
static int find(const char *kind, int (*visit)(int, const char *, const char *), const char *path) {
  char copy[rulesSize + 1], *rest = NULL;
  if (rules == NULL || rules[0] == 0) return 0;
  memcpy(copy, rules, rulesSize);
  copy[rulesSize] = 0;
  for (char *line = strtok_r(copy, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char name[16], part[256];
    int number, result;
    if (sscanf(line, "%15s %d %255s", name, &number, part) != 3 || strcmp(name, kind) != 0) continue;
    if ((result = visit(number, part, path)) != 0) return result;
  }
  return 0;
}

static int matches(int number, const char *part, const char *path) { return strstr(path, part) == NULL ? 0 : number; }
static int always(int number, const char *part, const char *path) {
  (void)part, (void)path;
  return number;
}

static int failsAt(const char *kind, const char *path) {
  int number = path == NULL ? 0 : find(kind, matches, path);
  if (number == 0) return 0;
  errno = number;
  return 1;
}

static int fails(const char *kind, int file) {
  char link[64], path[4096];
  ssize_t length;
  if (rules == NULL || rules[0] == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return failsAt(kind, path);
}

#define REAL(type, name, ...)                               \
  static type (*real)(__VA_ARGS__);                         \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

static int opened(int directory, const char *path, int flags, mode_t mode) {
  if (failsAt("open", path) || ((flags & O_CREAT) && failsAt("create", path))) return -1;
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define OPEN(name, directory, ...)                          \
  int name(__VA_ARGS__, ...) {                              \
    mode_t mode = 0;                                        \
    if (flags & (O_CREAT | O_TMPFILE)) {                    \
      va_list list;                                         \
      va_start(list, flags);                                \
      mode = va_arg(list, mode_t);                          \
      va_end(list);                                         \
    }                                                       \
    return opened(directory, path, flags, mode);            \
  }
OPEN(open, AT_FDCWD, const char *path, int flags)
OPEN(open64, AT_FDCWD, const char *path, int flags)
OPEN(openat, at, int at, const char *path, int flags)
OPEN(openat64, at, int at, const char *path, int flags)

ssize_t write(int file, const void *bytes, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t)
  return fails("write", file) ? -1 : real(file, bytes, size);
}
/* The two pages at the beginning of a table are kept apart: a process whose table cannot write them ends. */
ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
  return fails(offset < 2 * 4096 && size < 4096 ? "meta" : "write", file) ? -1 : real(file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset) { return pwrite(file, bytes, size, offset); }
ssize_t writev(int file, const struct iovec *pieces, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int)
  return fails("write", file) ? -1 : real(file, pieces, count);
}
ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset) {
  REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t)
  return fails("write", file) ? -1 : real(file, pieces, count, offset);
}
ssize_t pwritev64(int file, const struct iovec *pieces, int count, off_t offset) { return pwritev(file, pieces, count, offset); }
ssize_t read(int file, void *bytes, size_t size) {
  REAL(ssize_t, read, int, void *, size_t)
  return fails("read", file) ? -1 : real(file, bytes, size);
}
ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
  REAL(ssize_t, pread, int, void *, size_t, off_t)
  return fails("read", file) ? -1 : real(file, bytes, size, offset);
}
ssize_t pread64(int file, void *bytes, size_t size, off_t offset) { return pread(file, bytes, size, offset); }
int fsync(int file) {
  REAL(int, fsync, int)
  return fails("sync", file) ? -1 : real(file);
}
int fdatasync(int file) {
  REAL(int, fdatasync, int)
  return fails("sync", file) ? -1 : real(file);
}
int unlink(const char *path) {
  REAL(int, unlink, const char *)
  return failsAt("unlink", path) ? -1 : real(path);
}
int accept4(int file, struct sockaddr *address, socklen_t *size, int flags) {
  REAL(int, accept4, int, struct sockaddr *, socklen_t *, int)
  return fails("accept", file) ? -1 : real(file, address, size, flags);
}

static int ahead(void) { return find("clock", always, ""); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, clock_gettime, clockid_t, struct timespec *)
  int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += ahead();
  return result;
}
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(int, gettimeofday, struct timeval *restrict, void *restrict)
  int result = real(time, zone);
  if (result == 0) time->tv_sec += ahead();
  return result;
}
