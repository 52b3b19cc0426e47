/* Counts what changes files below a folder and makes the n-th change fail, or kills the process
 * there. Loaded before the C library (LD_PRELOAD), through which Python and Rust both go.
 *
 * The counters lie in memory that forked processes share, so that a parent sees how far its child
 * came. A child arms itself with faults_arm(); a process that starts with FAULTS_FOLDER, FAULTS_AT
 * and FAULTS_KIND in its environment is armed from the start.
 *
 * A write at which the process is killed, or that finds no space, leaves half of its bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { COUNT, KILL, NO_SPACE, DISK, READ_ONLY };
/* What an operation is to a file system without space, or one that is read only. */
enum needs { SPACE, CHANGE };

static struct {
    atomic_long seen;
} *shared;
static char folder[PATH_MAX];
static size_t length;
static long at;
static enum kind kind;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void faults_arm(const char *below, long n, int what) {
    kind = (enum kind)what;
    at = n;
    atomic_store(&shared->seen, 0);
    /* Last: from here on it counts. */
    length = 0;
    if (realpath(below, folder)) length = strlen(folder);
}

long faults_seen(void) { return atomic_load(&shared->seen); }

__attribute__((constructor)) static void begin(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
    const char *below = getenv("FAULTS_FOLDER");
    const char *n = getenv("FAULTS_AT"), *what = getenv("FAULTS_KIND");
    if (below && n && what) faults_arm(below, atol(n), atoi(what));
}

static int is_below(const char *path) {
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int fd_below(int fd) {
    char link[64], path[PATH_MAX];
    if (!length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return is_below(path);
}

static int path_below(int dir, const char *path) {
    char whole[PATH_MAX];
    if (!length) return 0;
    if (path[0] == '/') return is_below(path);
    if (dir != AT_FDCWD) return fd_below(dir);
    return getcwd(whole, sizeof whole) && is_below(whole);
}

/* Counts one operation. Returns an error number if it is to fail; *half is set if half of a write
 * is to be done before that. Ends the process if it is to be killed and there is nothing to write:
 * half is NULL. */
static int count(enum needs needs, int *half) {
    long n = atomic_fetch_add(&shared->seen, 1) + 1;
    if (kind == COUNT || n < at) return 0;
    switch (kind) {
    case KILL:
        if (half) *half = 1;
        else kill(getpid(), SIGKILL);
        return EINTR;
    case NO_SPACE:
        if (needs != SPACE) return 0;
        if (half) *half = n == at;
        return ENOSPC;
    case DISK:
        return n == at ? EIO : 0;
    default:
        return EROFS;
    }
}

#define FAIL(needs)                                                                                \
    do {                                                                                           \
        int failed = count(needs, NULL);                                                           \
        if (failed) {                                                                              \
            errno = failed;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

static void ended(void) {
    if (kind == KILL) kill(getpid(), SIGKILL);
}

ssize_t write(int fd, const void *bytes, size_t n) {
    int half = 0, failed = fd_below(fd) ? count(SPACE, &half) : 0;
    if (!failed) return NEXT(write)(fd, bytes, n);
    if (half) NEXT(write)(fd, bytes, n / 2);
    ended();
    errno = failed;
    return -1;
}

static ssize_t write_at(int fd, const void *bytes, size_t n, off64_t place) {
    int half = 0, failed = fd_below(fd) ? count(SPACE, &half) : 0;
    if (!failed) return NEXT(pwrite64)(fd, bytes, n, place);
    if (half) NEXT(pwrite64)(fd, bytes, n / 2, place);
    ended();
    errno = failed;
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t place) {
    return write_at(fd, bytes, n, place);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t place) {
    return write_at(fd, bytes, n, place);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    int half = 0, failed = fd_below(fd) ? count(SPACE, &half) : 0;
    if (!failed) return NEXT(writev)(fd, parts, n);
    if (half && n) NEXT(write)(fd, parts[0].iov_base, parts[0].iov_len / 2);
    ended();
    errno = failed;
    return -1;
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags) {
    if (fd_below(out)) FAIL(SPACE);
    return NEXT(copy_file_range)(in, from, out, to, n, flags);
}

ssize_t sendfile(int out, int in, off_t *from, size_t n) {
    if (fd_below(out)) FAIL(SPACE);
    return ((ssize_t(*)(int, int, off_t *, size_t))dlsym(RTLD_NEXT, "sendfile"))(out, in, from, n);
}

int fsync(int fd) {
    if (fd_below(fd)) FAIL(CHANGE);
    return NEXT(fsync)(fd);
}

int syncfs(int fd) {
    if (fd_below(fd)) FAIL(CHANGE);
    return NEXT(syncfs)(fd);
}

int fdatasync(int fd) {
    if (fd_below(fd)) FAIL(CHANGE);
    return NEXT(fdatasync)(fd);
}

int ftruncate(int fd, off_t n) {
    if (fd_below(fd)) FAIL(CHANGE);
    return NEXT(ftruncate)(fd, n);
}

int ftruncate64(int fd, off64_t n) {
    if (fd_below(fd)) FAIL(CHANGE);
    return NEXT(ftruncate64)(fd, n);
}

static int open_at(int dir, const char *path, int flags, mode_t mode) {
    if (flags & (O_CREAT | O_TRUNC) && path_below(dir, path)) FAIL(SPACE);
    return NEXT(openat64)(dir, path, flags, mode);
}

#define MODE                                                                                       \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }

int open(const char *path, int flags, ...) {
    MODE return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...) {
    MODE return open_at(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...) {
    MODE return open_at(dir, path, flags, mode);
}

int mkdirat(int dir, const char *path, mode_t mode) {
    if (path_below(dir, path)) FAIL(SPACE);
    return NEXT(mkdirat)(dir, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int dir, const char *path, int flags) {
    if (path_below(dir, path)) FAIL(CHANGE);
    return NEXT(unlinkat)(dir, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (path_below(from, old) || path_below(to, new)) FAIL(CHANGE);
    return NEXT(renameat2)(from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new) {
    return renameat2(from, old, to, new, 0);
}

int rename(const char *old, const char *new) {
    return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    if (path_below(to, new)) FAIL(SPACE);
    return NEXT(linkat)(from, old, to, new, flags);
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int symlinkat(const char *what, int to, const char *new) {
    if (path_below(to, new)) FAIL(SPACE);
    return NEXT(symlinkat)(what, to, new);
}

int symlink(const char *what, const char *new) { return symlinkat(what, AT_FDCWD, new); }
