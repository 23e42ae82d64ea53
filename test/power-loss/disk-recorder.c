/*
 * For LD_PRELOAD: records what a program and its children do to the files below a directory, so that a test can tell what a disk would
 * hold if the power failed at any moment (disk.ts).
 *
 *   DISK_RECORD       the record, to which all processes append
 *   DISK_RECORD_ROOT  the directory, as an absolute path without links
 *
 * An event is one atomic append: its size without these four bytes (32 bits), its type (8 bits), the number of its call (64 bits), and
 * what is said at each function. Numbers are little-endian. Writes, truncations and syncs are recorded before they are made, and
 * their results after ('E'). Names are recorded once they are made. Sending a response is recorded before it is done ('A').
 * '!' is something that this recorder cannot record.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { maxFiles = 65536, maxPieces = 1024, untracked = 0, tracked = 1, lockFile = 2 };

struct file {
  unsigned char kind;
  uint64_t device, inode;
};

static struct file files[maxFiles];
static _Atomic uint64_t calls;
static const char *root;
static size_t rootSize;
static int record = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_RECORD");
  root = getenv("DISK_RECORD_ROOT");
  if (path == NULL || root == NULL) return;
  rootSize = strlen(root);
  record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Appends an event of up to two parts and pieces of memory. */
static void append(char type, uint64_t call, const void *head, size_t headSize, const struct iovec *pieces, int count, size_t size) {
  struct iovec parts[maxPieces + 2];
  char start[13];
  uint32_t rest = (uint32_t)(9 + headSize + size);
  int used = 2, error = errno;
  memcpy(start, &rest, 4);
  start[4] = type;
  memcpy(start + 5, &call, 8);
  parts[0] = (struct iovec){start, sizeof start};
  parts[1] = (struct iovec){(void *)head, headSize};
  for (int i = 0; i < count && size > 0; i++) {
    size_t length = pieces[i].iov_len < size ? pieces[i].iov_len : size;
    parts[used++] = (struct iovec){pieces[i].iov_base, length};
    size -= length;
  }
  if (syscall(SYS_writev, record, parts, used) != (long)(rest + 4)) abort();
  errno = error;
}

static uint64_t nextCall(void) { return ((uint64_t)getpid() << 32) | atomic_fetch_add(&calls, 1); }

static void ended(uint64_t call, int64_t result) { append('E', call, &result, sizeof result, NULL, 0, 0); }

static void unsupported(const char *what) { append('!', 0, what, strlen(what), NULL, 0, 0); }

static int isWithin(const char *path) {
  return record >= 0 && path != NULL && strncmp(path, root, rootSize) == 0 && (path[rootSize] == '/' || path[rootSize] == 0);
}

/* Node closes files by a system call of its own, so that a number may meanwhile be that of something else. */
static struct file *fileOf(int number) {
  struct stat status;
  if (record < 0 || number < 0 || number >= maxFiles || files[number].kind == untracked) return NULL;
  if (fstat(number, &status) != 0 || status.st_ino != files[number].inode || status.st_dev != files[number].device) return NULL;
  return &files[number];
}

/* 'C', 'M': the inode (64 bits) and the path. */
static void named(char type, uint64_t inode, const char *path) {
  struct iovec text = {(void *)path, strlen(path)};
  append(type, 0, &inode, sizeof inode, &text, 1, text.iov_len);
}

/* 'L', 'R': two paths with a zero byte between them. 'U', 'D': a path. */
static void renamed(char type, const char *from, const char *to) {
  struct iovec text = {(void *)to, to == NULL ? 0 : strlen(to)};
  append(type, 0, from, strlen(from) + (to == NULL ? 0 : 1), &text, 1, text.iov_len);
}

static int opened(const char *path, int flags, mode_t mode) {
  int isOurs = isWithin(path), isNew = 0;
  if (isOurs && (flags & O_CREAT)) isNew = (flags & O_EXCL) || syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  int number = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (number < 0 || number >= maxFiles) return number;
  files[number].kind = untracked;
  if (!isOurs) return number;
  struct stat status;
  if (fstat(number, &status) != 0) return number;
  size_t size = strlen(path);
  files[number].device = status.st_dev;
  files[number].inode = status.st_ino;
  files[number].kind = size > 9 && strcmp(path + size - 9, "/lock.mdb") == 0 ? lockFile : tracked;
  if (isNew) named('C', status.st_ino, path);
  if ((flags & O_APPEND) || ((flags & O_TRUNC) && !isNew)) unsupported("opening with O_APPEND, or a file that is there with O_TRUNC");
  return number;
}

#define MODE(flags, mode)                                     \
  mode_t mode = 0;                                            \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                      \
    va_list list;                                             \
    va_start(list, flags);                                    \
    mode = va_arg(list, mode_t);                              \
    va_end(list);                                             \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return opened(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return opened(path, flags, mode);
}
int openat(int directory, const char *path, int flags, ...) {
  MODE(flags, mode)
  if (directory == AT_FDCWD || path[0] == '/') return opened(path, flags, mode);
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) {
  MODE(flags, mode)
  if (directory == AT_FDCWD || path[0] == '/') return opened(path, flags, mode);
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}
int creat(const char *path, mode_t mode) { return opened(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int close(int number) {
  if (number >= 0 && number < maxFiles) files[number].kind = untracked;
  return (int)syscall(SYS_close, number);
}

/* 'A': the id of the request that is being answered. */
static void answering(int number, const struct iovec *pieces, int count) {
  static const char name[] = "x-amz-request-id: ";
  struct stat status;
  if (record < 0 || fstat(number, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  for (int i = 0; i < count; i++) {
    size_t length = pieces[i].iov_len < 8192 ? pieces[i].iov_len : 8192;
    const char *found = memmem(pieces[i].iov_base, length, name, sizeof name - 1);
    if (found == NULL) continue;
    const char *id = found + sizeof name - 1, *end = (const char *)pieces[i].iov_base + pieces[i].iov_len;
    const char *stop = memchr(id, '\r', (size_t)(end - id));
    if (stop != NULL) append('A', 0, id, (size_t)(stop - id), NULL, 0, 0);
  }
}

/* 'W': inode, offset (64 bits each), whether it is synchronous (8 bits), and the bytes. */
static ssize_t writing(int number, const struct iovec *pieces, int count, off_t offset, int isAtOffset) {
  struct file *file = fileOf(number);
  uint64_t call = 0;
  if (file == NULL) {
    answering(number, pieces, count);
  } else if (file->kind == tracked) {
    char head[17];
    size_t size = 0;
    uint64_t position = (uint64_t)(isAtOffset ? offset : lseek(number, 0, SEEK_CUR));
    if (count > maxPieces) unsupported("a write of more than 1,024 pieces");
    for (int i = 0; i < count; i++) size += pieces[i].iov_len;
    memcpy(head, &file->inode, 8);
    memcpy(head + 8, &position, 8);
    head[16] = (fcntl(number, F_GETFL) & O_DSYNC) != 0;
    call = nextCall();
    append('W', call, head, sizeof head, pieces, count, size);
  }
  ssize_t result;
  if (isAtOffset && count == 1) result = syscall(SYS_pwrite64, number, pieces->iov_base, pieces->iov_len, offset);
  else if (isAtOffset) result = syscall(SYS_pwritev, number, pieces, count, offset, 0);
  else if (count == 1) result = syscall(SYS_write, number, pieces->iov_base, pieces->iov_len);
  else result = syscall(SYS_writev, number, pieces, count);
  if (call != 0) ended(call, result);
  return result;
}

ssize_t write(int number, const void *bytes, size_t size) {
  struct iovec piece = {(void *)bytes, size};
  return writing(number, &piece, 1, 0, 0);
}
ssize_t writev(int number, const struct iovec *pieces, int count) { return writing(number, pieces, count, 0, 0); }
ssize_t pwrite(int number, const void *bytes, size_t size, off_t offset) {
  struct iovec piece = {(void *)bytes, size};
  return writing(number, &piece, 1, offset, 1);
}
ssize_t pwrite64(int number, const void *bytes, size_t size, off64_t offset) { return pwrite(number, bytes, size, offset); }
ssize_t pwritev(int number, const struct iovec *pieces, int count, off_t offset) { return writing(number, pieces, count, offset, 1); }
ssize_t pwritev64(int number, const struct iovec *pieces, int count, off64_t offset) { return writing(number, pieces, count, offset, 1); }
ssize_t sendmsg(int number, const struct msghdr *message, int flags) {
  answering(number, message->msg_iov, (int)message->msg_iovlen);
  return syscall(SYS_sendmsg, number, message, flags);
}

/* 'T': inode and size (64 bits each). */
int ftruncate(int number, off_t size) {
  struct file *file = fileOf(number);
  uint64_t call = 0, head[2] = {file == NULL ? 0 : file->inode, (uint64_t)size};
  if (file != NULL && file->kind == tracked) append('T', call = nextCall(), head, sizeof head, NULL, 0, 0);
  int result = (int)syscall(SYS_ftruncate, number, size);
  if (call != 0) ended(call, result);
  return result;
}
int ftruncate64(int number, off64_t size) { return ftruncate(number, size); }
int truncate(const char *path, off_t size) {
  if (isWithin(path)) unsupported("truncate");
  return (int)syscall(SYS_truncate, path, size);
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

/* 'S': the inode of a file or directory (64 bits). */
static int syncing(int number, long which) {
  struct file *file = fileOf(number);
  uint64_t call = 0;
  if (file != NULL && file->kind == tracked) append('S', call = nextCall(), &file->inode, 8, NULL, 0, 0);
  int result = (int)syscall(which, number);
  if (call != 0) ended(call, result);
  return result;
}
int fsync(int number) { return syncing(number, SYS_fsync); }
int fdatasync(int number) { return syncing(number, SYS_fdatasync); }

int mkdir(const char *path, mode_t mode) {
  struct stat status;
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0 && isWithin(path) && stat(path, &status) == 0) named('M', status.st_ino, path);
  return result;
}
int rmdir(const char *path) {
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  if (result == 0 && isWithin(path)) renamed('D', path, NULL);
  return result;
}
int unlink(const char *path) {
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0 && isWithin(path)) renamed('U', path, NULL);
  return result;
}
int rename(const char *from, const char *to) {
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && isWithin(to)) renamed('R', from, to);
  return result;
}
int link(const char *from, const char *to) {
  int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && isWithin(to)) renamed('L', from, to);
  return result;
}

/* What is written to memory cannot be seen. LMDB's lock file is, and needs not survive. */
void *mmap64(void *address, size_t size, int protection, int flags, int number, off64_t offset) {
  struct file *file = fileOf(number);
  int isShared = (flags & MAP_TYPE) != MAP_PRIVATE;
  if (file != NULL && file->kind == tracked && isShared && (protection & PROT_WRITE)) unsupported("a writable mapping");
  return (void *)syscall(SYS_mmap, address, size, protection, flags, number, offset);
}
ssize_t copy_file_range(int from, off64_t *fromOffset, int to, off64_t *toOffset, size_t size, unsigned int flags) {
  if (fileOf(to) != NULL) unsupported("copy_file_range");
  return syscall(SYS_copy_file_range, from, fromOffset, to, toOffset, size, flags);
}
int fallocate64(int number, int mode, off64_t offset, off64_t size) {
  if (fileOf(number) != NULL) unsupported("fallocate");
  return (int)syscall(SYS_fallocate, number, mode, offset, size);
}
int posix_fallocate64(int number, off64_t offset, off64_t size) { return fallocate64(number, 0, offset, size) == 0 ? 0 : errno; }
