//===- OutputFile.h - atomic output files -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Writes files, for all C++ code of the compiler and the runtime (so it uses neither LLVM nor exceptions). ttmlir.files
// does the same in Python.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_OUTPUTFILE_H
#define TTMLIR_TARGET_OUTPUTFILE_H

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ttmlir {

/// A file to write. keep() replaces an older file by what was written, with the permissions of the older one; without
/// it nothing changes. Links are followed: the file that they name is replaced. A target that is not a regular file (a
/// pipe, a device) is written directly, and keeps what was written before a failure.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path(std::move(path)) { failure = open(); }
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() { discard(); }

  /// Returns the file descriptor to write to; -1 after an error.
  int descriptor() const { return file; }
  /// The first error, as in errno; 0 without one.
  int error() const { return failure; }
  /// Returns the operating system's text for the error.
  std::string message() const { return std::strerror(failure); }

  void write(std::string_view bytes) {
    while (!failure && !bytes.empty()) {
      const ssize_t count = ::write(file, bytes.data(), bytes.size());
      if (count >= 0)
        bytes.remove_prefix(static_cast<size_t>(count));
      else if (errno != EINTR)
        failure = errno;
    }
  }
  /// Finishes the file. Returns error(); if it is not 0, nothing of what was written remains.
  int keep() {
    const int closed = file < 0 ? 0 : ::close(std::exchange(file, -1));
    if (!failure && closed != 0)
      failure = errno;
    if (!failure && !temporary.empty() && ::rename(temporary.c_str(), target.c_str()) != 0)
      failure = errno;
    if (!failure)
      temporary.clear();
    discard();
    return failure;
  }

private:
  static std::string folderOf(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }
  /// A link of /proc refers to something that is open, and may have no name.
  static bool isOpenFile(const std::string &link) {
    char resolved[PATH_MAX];
    const std::string folder = folderOf(link);
    return ::realpath(folder.empty() ? "." : folder.c_str(), resolved) &&
           std::string_view(resolved).substr(0, 6) == "/proc/";
  }

  int open() {
    target = path;
    for (int links = 0;; ++links) {
      struct stat status;
      if (::lstat(target.c_str(), &status) != 0)
        return errno == ENOENT ? create(0666, nullptr) : errno;
      if (S_ISREG(status.st_mode))
        return ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) == 0 ? create(0600, &status) : errno;
      if (!S_ISLNK(status.st_mode))
        return openInPlace(0);
      if (isOpenFile(target))
        return openInPlace(O_APPEND);
      char to[PATH_MAX];
      const ssize_t length = ::readlink(target.c_str(), to, sizeof(to));
      if (length < 0 || length == sizeof(to) || links == 40)
        return length < 0 ? errno : ELOOP;
      const std::string_view next(to, static_cast<size_t>(length));
      target = next.substr(0, 1) == "/" ? std::string(next) : folderOf(target) + std::string(next);
    }
  }
  int openInPlace(int flags) {
    file = ::open(target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
    return file < 0 ? errno : 0;
  }
  /// In the same folder, so that it can be renamed.
  int create(mode_t mode, const struct stat *older) {
    static std::atomic<uint32_t> number{0};
    if (target.empty() || target.back() == '/')
      return target.empty() ? ENOENT : EISDIR;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      temporary = folderOf(target) + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(number.fetch_add(1));
      file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (file >= 0 || errno != EEXIST)
        break;
    }
    if (file < 0) {
      temporary.clear();
      return errno;
    }
    if (!older)
      return 0;
    // A file of another user keeps its owner if permissions allow it.
    if ((older->st_uid != ::geteuid() || older->st_gid != ::getegid()) &&
        ::fchown(file, older->st_uid, older->st_gid) != 0 && errno != EPERM)
      return errno;
    return ::fchmod(file, older->st_mode & 07777) == 0 ? 0 : errno;
  }
  void discard() {
    if (file >= 0)
      ::close(std::exchange(file, -1));
    if (!temporary.empty())
      ::unlink(temporary.c_str());
    temporary.clear();
  }

  const std::string path;
  std::string target, temporary; // where links lead; what is renamed to it
  int file = -1, failure = 0;
};

} // namespace ttmlir

#endif // TTMLIR_TARGET_OUTPUTFILE_H
