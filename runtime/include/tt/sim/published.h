//===- published.h - open meshes, as other processes see them ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A process that opens a mesh has a file with a row for each of its meshes:
// what it is, what is allocated on it, what has run. The rows are mapped
// memory, so keeping them costs a few stores; other processes of the user read
// the file, and can ask for a reset of a mesh. The file is in
// $XDG_RUNTIME_DIR/ttmlir, or else in /tmp/ttmlir-UID; the environment variable
// TTRT_PUBLISH names another folder, or is 0 for none. Nobody but its user may
// read the folder. Where the file cannot be created, nothing is published. A file
// whose lock nobody holds is of a process that has ended, or runs another
// program.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/device.h"

#include <atomic>
#include <string>
#include <vector>

namespace tt::sim {

//===- For the process whose meshes they are ------------------------------===//

/// Publishes a mesh, or a sub-mesh of one that is. It is withdrawn when it is closed.
void publish(const MeshDevice &device);

namespace detail {
/// The page with the rows of the process; null while it publishes nothing, which then costs a load.
extern std::atomic<void *> publishedPage;
inline bool isPublishing() { return publishedPage.load(std::memory_order_relaxed); }
void noteMemories(uint32_t device, const Memories &memories, const Memories *whole);
void noteMemory(uint32_t device, Memory memory, const Memories &memories, const Memories *whole);
void noteRun(uint32_t device, const RunTotals &run);
} // namespace detail

namespace published {
/// Called with the memories locked. whole: those of the mesh that the device is a part of, whose blocks are not its
/// own.
inline void noteMemories(uint32_t device, const Memories &memories, const Memories *whole) {
  if (detail::isPublishing())
    detail::noteMemories(device, memories, whole);
}
/// The same, where only one of them has changed.
inline void noteMemory(uint32_t device, Memory memory, const Memories &memories, const Memories *whole) {
  if (detail::isPublishing())
    detail::noteMemory(device, memory, memories, whole);
}
inline void noteRun(uint32_t device, const RunTotals &run) {
  if (detail::isPublishing())
    detail::noteRun(device, run);
}
void noteShape(uint32_t device, uint32_t rows, uint32_t columns);
void withdraw(const MeshDevice &device);
/// Returns who requested the reset that closed the device, as the end of a message; "" when no process did.
std::string closedBy(uint32_t device);
} // namespace published

/// The time in which a mesh runs something. Of several at a time on one mesh, the first counts.
class Busy {
public:
  explicit Busy(const MeshDevice &device) {
    if (detail::isPublishing())
      begin(device);
  }
  ~Busy() {
    if (since)
      end();
  }
  Busy(const Busy &) = delete;
  Busy &operator=(const Busy &) = delete;

private:
  void begin(const MeshDevice &device);
  void end() noexcept;
  uint32_t device = 0;
  int64_t since = 0;   // 0: not counted
  void *row = nullptr; // that the device had
};

/// Another process has requested a reset of the device.
class ResetError : public DeviceError {
public:
  using DeviceError::DeviceError;
};

namespace detail {
/// Counts the resets that were requested and not done, of all meshes of the process.
extern std::atomic<const std::atomic<uint32_t> *> pendingResets;
void checkReset(const MeshDevice &device);
void endIfReset(MeshDevice &device);
} // namespace detail

/// Called between ops of a run on the device: throws ResetError when it is to be reset. Costs two loads otherwise.
inline void checkReset(const MeshDevice &device) {
  if (detail::pendingResets.load(std::memory_order_relaxed)->load(std::memory_order_relaxed)) [[unlikely]]
    detail::checkReset(device);
}
/// Called where no run of the thread is under way: closes the device as well, and what it is a part of.
inline void endIfReset(MeshDevice &device) {
  if (detail::pendingResets.load(std::memory_order_relaxed)->load(std::memory_order_relaxed)) [[unlikely]]
    detail::endIfReset(device);
}

//===- For others -----------------------------------------------------------===//

/// A mesh of some process at one moment.
struct PublishedMesh {
  uint32_t process = 0, device = 0; // the latter as MeshDevice::id()
  std::string arch;
  uint32_t rows = 0, columns = 0;
  Chips own;          // those that this process simulates
  int64_t whole = -1; // of a sub-mesh: the mesh, by its id; -1
  uint32_t firstRow = 0, firstColumn = 0;
  uint32_t clockMHz = 0;
  int64_t openedNs = 0; // since 1970
  struct Figures {
    // The latter are bytes per bank; `used` of a sub-mesh is without what its mesh uses, `peak` with it.
    int64_t banks = 0, total = 0, used = 0, peak = 0;
  };
  Figures memories[memoryCount]; // by Memory
  int64_t programs = 0, ops = 0, cycles = 0;
  int64_t chipNs = 0;            // estimated, of each chip
  int64_t busyNs = 0;            // measured on the host
  uint32_t resetRequestedBy = 0; // a process, 0: none
};

struct PublishedMeshes {
  std::vector<PublishedMesh> meshes;
  std::vector<std::string> problems; // files that cannot be read, and why
};
/// The meshes of running processes of this user; of all users, when root asks. Files of processes that are gone are
/// removed.
PublishedMeshes publishedMeshes();
/// Asks a process to reset a mesh of its own: what runs on it ends with ResetError before its next op, and so does the
/// next thing that is to run on it. Throws DeviceError when the process has no such mesh.
void requestReset(uint32_t process, uint32_t device);
/// Returns the folder in which this process publishes; "" for none.
std::string publicationFolder();
/// Returns why the process cannot publish there; "" when it can.
std::string publicationProblem();

} // namespace tt::sim
