/*
 * For LD_PRELOAD: the next write to one of the two first pages of a data.mdb fails with EIO, once, as soon as the file exists that the
 * variable FAIL_META_WRITE names. Those pages say where everything else is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(int file, off_t offset) {
  const char *trigger = getenv("FAIL_META_WRITE");
  char link[64], path[4096];
  ssize_t length;
  if (trigger == NULL || offset >= 2 * 4096) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/data.mdb") != NULL && unlink(trigger) == 0;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "pwrite");
  if (fails(file, offset)) {
    errno = EIO;
    return -1;
  }
  return real(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset) { return pwrite(file, bytes, size, offset); }
