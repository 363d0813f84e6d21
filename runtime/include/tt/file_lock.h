//===- file_lock.h - files that say that their process runs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A process holds a lock on a file as long as the file means something. The
// kernel ends the lock with the process, however that ends, and when it becomes
// another program: the descriptor has to be close-on-exec.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <fcntl.h>

namespace tt {

enum class Holder {
  /// Children do not inherit the lock. It ends when the process closes any descriptor of the file.
  Process,
  /// Other descriptors of the file may be opened and closed. Forked children have to close theirs, and memory that was
  /// mapped with the descriptor keeps the lock, too.
  Descriptor,
};

namespace detail {
inline struct flock wholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}
} // namespace detail

/// Takes the lock of a file that is open for writing; false when another has it.
inline bool takeFile(int descriptor, Holder holder) {
  struct flock lock = detail::wholeFile();
  return ::fcntl(descriptor, holder == Holder::Process ? F_SETLK : F_OFD_SETLK, &lock) == 0;
}

/// Whether another has the lock: another process, or another descriptor of this one.
inline bool isFileTaken(int descriptor) {
  struct flock lock = detail::wholeFile();
  return ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

} // namespace tt
