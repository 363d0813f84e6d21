//===- published_others.cpp - other processes' open meshes ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "publication.h"

#include "tt/file_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>

namespace tt::sim {

using namespace publication;

namespace {

/// A copy of a file, or the error; nothing if it is stale.
std::optional<std::string> readPage(const std::string &path, uint32_t process, Page &page) {
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  struct stat info;
  if (!file && errno == ENOENT)
    return std::nullopt; // its process has ended meanwhile
  if (!file || ::fstat(file.get(), &info) != 0)
    return std::strerror(errno);
  if (!S_ISREG(info.st_mode))
    return "no file";
  if (removedAsStale(file, path))
    return std::nullopt;
  if (info.st_size != sizeof(Page))
    return std::to_string(info.st_size) + " bytes; expected " + std::to_string(sizeof(Page));
  if (::pread(file.get(), static_cast<void *>(&page), sizeof(Page), 0) != sizeof(Page))
    return "not readable to its end";
  if (page.magic != magic || page.bytes != sizeof(Page))
    return "not written by this version of the runtime";
  if (page.process != process)
    return "of process " + std::to_string(page.process) + " by its contents";
  if (page.rowsUsed.load() > maxRows)
    return std::to_string(page.rowsUsed.load()) + " meshes; expected at most " + std::to_string(maxRows);
  return "";
}

std::string problemOf(const Row &row) {
  if (!row.rows || !row.columns || uint64_t(row.rows) * row.columns > maxChips)
    return "a mesh of " + std::to_string(row.rows) + "x" + std::to_string(row.columns) + " chips";
  if (row.firstChip >= row.lastChip || row.lastChip > row.rows * row.columns)
    return "chips " + std::to_string(row.firstChip) + " to " + std::to_string(row.lastChip) + " of a mesh of " +
           std::to_string(row.rows) + "x" + std::to_string(row.columns);
  const std::string_view arch(row.arch, ::strnlen(row.arch, sizeof row.arch));
  if (std::ranges::none_of(allChips(), [&](const ChipDesc &known) { return toString(known.arch) == arch; }))
    return "an unknown architecture";
  for (size_t i = 0; i < memoryCount; ++i)
    if (row.banks[i] < 0 || row.total[i] < 0 || row.used[i].load() < 0 || row.used[i].load() > row.total[i])
      return std::to_string(row.used[i].load()) + " of " + std::to_string(row.total[i]) + " bytes of " +
             std::string(toString(static_cast<Memory>(i)));
  return "";
}

PublishedMesh meshOf(const Row &row, uint32_t process, int64_t now) {
  PublishedMesh mesh;
  mesh.process = process;
  mesh.device = row.device.load() - 1;
  mesh.arch.assign(row.arch, ::strnlen(row.arch, sizeof row.arch));
  mesh.rows = row.rows;
  mesh.columns = row.columns;
  mesh.own = {row.firstChip, row.lastChip};
  mesh.whole = int64_t(row.whole) - 1;
  mesh.firstRow = row.firstRow;
  mesh.firstColumn = row.firstColumn;
  mesh.clockMHz = row.clockMHz;
  mesh.openedNs = row.openedNs;
  for (size_t i = 0; i < memoryCount; ++i)
    mesh.memories[i] = {row.banks[i], row.total[i], row.used[i].load(), row.peak[i].load()};
  mesh.programs = row.programs.load();
  mesh.ops = row.ops.load();
  mesh.cycles = row.cycles.load();
  mesh.chipNs = row.chipNs.load();
  const int64_t since = row.busySince.load();
  mesh.busyNs = row.busyNs.load() + (since ? std::max<int64_t>(now - since, 0) : 0);
  mesh.resetRequestedBy = row.reset.load();
  return mesh;
}

} // namespace

PublishedMeshes publishedMeshes() {
  PublishedMeshes all;
  const auto page = std::make_unique<Page>();
  for (const std::string &folder : foldersToRead()) {
    struct stat info;
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
      continue;
    if (info.st_uid != ::geteuid() && ::geteuid() != 0) {
      all.problems.push_back(folder + ": belongs to another user");
      continue;
    }
    for (const std::string &name : entriesOf(folder)) {
      const std::string path = folder + "/" + name;
      const uint32_t process = processOf(name);
      const auto read = process ? readPage(path, process, *page) : "its name is no number of a process";
      if (!read)
        continue;
      std::string problem = *read;
      const int64_t now = coarseNow();
      for (uint32_t i = 0; problem.empty() && i < page->rowsUsed.load(); ++i)
        if (const Row &row = page->rows[i]; row.device.load()) {
          problem = problemOf(row);
          if (problem.empty())
            all.meshes.push_back(meshOf(row, process, now));
        }
      if (!problem.empty())
        all.problems.push_back(path + ": damaged: " + problem);
    }
  }
  return all;
}

void requestReset(uint32_t process, uint32_t device) {
  const std::string what = "reset device " + std::to_string(device) + " of process " + std::to_string(process);
  const std::string name = std::to_string(process);
  const auto copy = std::make_unique<Page>();
  for (const std::string &folder : foldersToRead()) {
    const std::string path = folder + "/" + name;
    if (readPage(path, process, *copy) != "")
      continue;
    const File file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    void *mapped = file ? ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0) : MAP_FAILED;
    if (mapped == MAP_FAILED)
      throw DeviceError(what + ": " + path + ": " + std::strerror(errno));
    const std::unique_ptr<void, void (*)(void *)> unmapped(mapped, [](void *p) { ::munmap(p, sizeof(Page)); });
    Page &page = *static_cast<Page *>(mapped);
    for (Row &row : page.rows)
      if (row.device.load(std::memory_order_acquire) == device + 1) {
        uint32_t none = 0;
        page.pendingResets.fetch_add(1, std::memory_order_acq_rel);
        if (!row.reset.compare_exchange_strong(none, static_cast<uint32_t>(::getpid())))
          page.pendingResets.fetch_sub(1, std::memory_order_acq_rel); // another process has requested it
        return;
      }
  }
  throw DeviceError(what + ": there is none");
}

} // namespace tt::sim
