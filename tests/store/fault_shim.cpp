// Preloaded into a process, makes the n-th file operation after fault_arm() fail, once or from then
// on, or write fewer bytes than asked. It stands between the program (SQLite included) and libc.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>

namespace {

enum class Kind : int { fail_once = 0, fail_from_then_on = 1, write_short = 2 };

long operations_left = -1;  // negative: not armed
long operations_seen = 0;
long faults = 0;
int error_number = 0;
Kind kind = Kind::fail_once;

bool is_due() {
    if (operations_left < 0) {
        return false;
    }
    ++operations_seen;
    if (operations_left > 0) {
        --operations_left;
        return false;
    }
    if (kind != Kind::fail_from_then_on) {
        operations_left = -1;
    }
    ++faults;
    return true;
}

bool fails() {
    if (kind == Kind::write_short || !is_due()) {
        return false;
    }
    errno = error_number;
    return true;
}

// Bytes to write in place of `count`, or -1 to fail.
ssize_t allowed(size_t count) {
    if (!is_due()) {
        return static_cast<ssize_t>(count);
    }
    if (kind == Kind::write_short) {
        return static_cast<ssize_t>(count > 1 ? count / 2 : count);
    }
    errno = error_number;
    return -1;
}

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void fault_arm(long after, int error, int how) {
    error_number = error;
    kind = static_cast<Kind>(how);
    operations_seen = 0;
    faults = 0;
    operations_left = after;
}

// Returns how many faults there were since fault_arm().
long fault_disarm() {
    const long seen = faults;
    operations_left = -1;
    faults = 0;
    return seen;
}

ssize_t write(int fd, const void* data, size_t count) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
    const ssize_t n = fd > 2 ? allowed(count) : static_cast<ssize_t>(count);
    return n < 0 ? -1 : real(fd, data, static_cast<size_t>(n));
}

ssize_t pwrite64(int fd, const void* data, size_t count, off64_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
    const ssize_t n = allowed(count);
    return n < 0 ? -1 : real(fd, data, static_cast<size_t>(n), offset);
}

int fsync(int fd) {
    static const auto real = next<int (*)(int)>("fsync");
    return fails() ? -1 : real(fd);
}

int fdatasync(int fd) {
    static const auto real = next<int (*)(int)>("fdatasync");
    return fails() ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t length) {
    static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
    return fails() ? -1 : real(fd, length);
}

int rename(const char* from, const char* to) {
    static const auto real = next<int (*)(const char*, const char*)>("rename");
    return fails() ? -1 : real(from, to);
}

int unlink(const char* path) {
    static const auto real = next<int (*)(const char*)>("unlink");
    return fails() ? -1 : real(path);
}

int mkdir(const char* path, mode_t mode) {
    static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
    return fails() ? -1 : real(path, mode);
}

// A disk that refuses writes also says so when asked.
int access(const char* path, int mode) {
    static const auto real = next<int (*)(const char*, int)>("access");
    if (faults > 0 && kind == Kind::fail_from_then_on && error_number == EROFS &&
        (mode & W_OK) != 0) {
        errno = EROFS;
        return -1;
    }
    return real(path, mode);
}

// Only creation counts: opening for reading is not a write.
int open64(const char* path, int flags, ...) {
    static const auto real = next<int (*)(const char*, int, ...)>("open64");
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & O_CREAT) != 0 && fails()) {
        return -1;
    }
    return real(path, flags, mode);
}

}  // extern "C"
