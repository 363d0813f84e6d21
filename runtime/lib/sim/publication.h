//===- publication.h - files in which processes publish their meshes -----===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/sim/published.h"

#include <array>
#include <atomic>
#include <ctime>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tt::sim::publication {

inline constexpr std::array<char, 8> magic = {'T', 'T', 'C', 'H', 'I', 'P', 'S', '2'};
inline constexpr size_t maxRows = 64; // meshes of a process; more are not published

using Figure = std::atomic<int64_t>;
static_assert(Figure::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

/// A mesh. Constant fields are written before `device`.
struct Row {
  std::atomic<uint32_t> device; // its id, and one; 0 in a row that is free
  std::atomic<uint32_t> reset;  // the process that requested it
  std::atomic<uint32_t> rows, columns;
  uint32_t firstChip, lastChip;
  uint32_t whole; // of a sub-mesh: the id of its mesh, and one
  uint32_t firstRow, firstColumn, clockMHz;
  char arch[16];
  int64_t openedNs;
  int64_t banks[memoryCount], total[memoryCount];
  Figure used[memoryCount], peak[memoryCount];
  Figure programs, ops, cycles, chipNs;
  Figure busyNs, busySince; // on CLOCK_MONOTONIC; 0: nothing runs
};

struct Page {
  std::array<char, 8> magic;
  uint32_t bytes, process;
  std::atomic<uint32_t> pendingResets;
  std::atomic<uint32_t> rowsUsed; // rows behind were never taken
  Row rows[maxRows];
};

int64_t clockNs(clockid_t clock);

/// Accurate to a few milliseconds, and twenty times cheaper to read than the exact clock: over many runs the error
/// averages out.
inline int64_t coarseNow() { return clockNs(CLOCK_MONOTONIC_COARSE); }

class File {
public:
  File(int descriptor) : number(descriptor) {}
  ~File() {
    if (number >= 0)
      ::close(number);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number;
};

bool isOwnFolder(const std::string &path);
/// TTRT_PUBLISH; empty if nothing is published.
std::optional<std::string> givenFolder();
/// Returns the folders that may contain files of running processes.
std::vector<std::string> foldersToRead();
/// Sorted names.
std::vector<std::string> entriesOf(const std::string &folder);
/// The process of a file, by its name; 0 for another file.
uint32_t processOf(const std::string &name);
/// Whether no process holds the file: its process has ended, or runs another program now. The file is then removed.
bool removedAsStale(const File &file, const std::string &path);
/// Removes files of processes that are gone.
void clean(const std::string &folder);

} // namespace tt::sim::publication
