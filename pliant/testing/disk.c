/* What a program does to the files below one folder: every operation is counted, written into a journal, or refused.

Loaded before the C library (LD_PRELOAD), so that nothing passes by it, HDF5's own writes included. A record of the
journal is: int32 kind, int32 fd, int64 offset or flags, int64 length, int32 lengths of two paths; paths; content. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN = 1, WRITE, TRUNCATE, FSYNC, RENAME, UNLINK, MKDIR };
#define MOST 4096
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char folder[4096], watched[MOST];
static int journal = -1, fault = 0;
static long count = 0, first = -1, last = -1;

void disk_watch(const char *path, const char *log) {
    strncpy(folder, path, sizeof folder - 1);
    if (journal >= 0) REAL(close)(journal);
    journal = log && *log ? REAL(open)(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    memset(watched, 0, sizeof watched);
    count = 0, first = last = -1;
}

/* Operations from ``from`` to ``to`` fail with ``error``; a disk that is full has room again once .reserve is gone. */
void disk_fail(long from, long to, int error) { count = 0, first = from, last = to, fault = error; }

long disk_count(void) { return count; }

static int below(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }
static int seen(int fd) { return fd >= 0 && fd < MOST && watched[fd]; }

static int refused(void) {
    long k = count++;
    if (first >= 0 && k >= first && k < last) { errno = fault; return 1; }
    return 0;
}

static void note(int kind, int fd, int64_t at, int64_t length, const char *a, const char *b, const void *content) {
    struct { int32_t kind, fd; int64_t at, length; int32_t a, b; } head = {kind, fd, at, length, 0, 0};
    if (journal < 0) return;
    head.a = a ? strlen(a) : 0, head.b = b ? strlen(b) : 0;
    __typeof__(&write) out = REAL(write);
    (void)!out(journal, &head, sizeof head);
    if (head.a) (void)!out(journal, a, head.a);
    if (head.b) (void)!out(journal, b, head.b);
    if (content && length) (void)!out(journal, content, length);
}

static int opened(int fd, const char *path, int flags) {
    if (fd < 0 || fd >= MOST) return fd;
    watched[fd] = below(path);
    if (watched[fd]) note(OPEN, fd, (flags & O_CREAT ? 1 : 0) | (flags & O_TRUNC ? 2 : 0), 0, path, NULL, NULL);
    return fd;
}

#define OPENING(name)                                                          \
    int name(const char *path, int flags, ...) {                               \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        mode_t mode = va_arg(more, mode_t);                                    \
        va_end(more);                                                          \
        if (below(path) && flags & (O_CREAT | O_TRUNC) && refused()) return -1; \
        return opened(REAL(name)(path, flags, mode), path, flags);             \
    }
OPENING(open)
OPENING(open64)

int close(int fd) {
    if (fd >= 0 && fd < MOST) watched[fd] = 0;
    return REAL(close)(fd);
}

ssize_t write(int fd, const void *content, size_t length) {
    if (!seen(fd)) return REAL(write)(fd, content, length);
    if (refused()) return -1;
    struct stat now;
    int64_t at = lseek(fd, 0, SEEK_CUR);
    if (fcntl(fd, F_GETFL) & O_APPEND && !fstat(fd, &now)) at = now.st_size;
    ssize_t done = REAL(write)(fd, content, length);
    if (done > 0) note(WRITE, fd, at, done, NULL, NULL, content);
    return done;
}

#define PWRITING(name, offset)                                                 \
    ssize_t name(int fd, const void *content, size_t length, offset at) {      \
        if (!seen(fd)) return REAL(name)(fd, content, length, at);             \
        if (refused()) return -1;                                              \
        ssize_t done = REAL(name)(fd, content, length, at);                    \
        if (done > 0) note(WRITE, fd, at, done, NULL, NULL, content);          \
        return done;                                                           \
    }
PWRITING(pwrite, off_t)
PWRITING(pwrite64, off64_t)

#define FD(name, kind, type, size, call)                                       \
    int name type {                                                            \
        if (!seen(fd)) return REAL(name) call;                                 \
        if (refused()) return -1;                                              \
        int done = REAL(name) call;                                            \
        if (!done) note(kind, fd, 0, size, NULL, NULL, NULL);                  \
        return done;                                                           \
    }
FD(ftruncate, TRUNCATE, (int fd, off_t size), size, (fd, size))
FD(ftruncate64, TRUNCATE, (int fd, off64_t size), size, (fd, size))
FD(fsync, FSYNC, (int fd), 0, (fd))
FD(fdatasync, FSYNC, (int fd), 0, (fd))

#define PATH(name, kind, type, other, size, call)                              \
    int name type {                                                            \
        if (!below(path)) return REAL(name) call;                              \
        if (refused()) return -1;                                              \
        int done = REAL(name) call;                                            \
        if (!done) note(kind, -1, 0, size, path, other, NULL);                 \
        return done;                                                           \
    }
PATH(rename, RENAME, (const char *path, const char *to), to, 0, (path, to))
PATH(truncate, TRUNCATE, (const char *path, off_t size), NULL, size, (path, size))
PATH(truncate64, TRUNCATE, (const char *path, off64_t size), NULL, size, (path, size))
PATH(mkdir, MKDIR, (const char *path, mode_t mode), NULL, 0, (path, mode))

int unlink(const char *path) {
    if (!below(path)) return REAL(unlink)(path);
    if (fault == ENOSPC && strstr(path, "/.reserve")) last = -1;
    if (refused()) return -1;
    int done = REAL(unlink)(path);
    if (!done) note(UNLINK, -1, 0, 0, path, NULL, NULL);
    return done;
}
