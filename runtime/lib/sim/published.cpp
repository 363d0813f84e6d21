//===- published.cpp - open meshes, as other processes see them -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "publication.h"

#include "tt/file_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tt::sim {

using namespace publication;

namespace {

constinit const std::atomic<uint32_t> noResets{0};

} // namespace

constinit std::atomic<void *> detail::publishedPage{nullptr};
constinit std::atomic<const std::atomic<uint32_t> *> detail::pendingResets{&noResets};

namespace {

struct Own {
  ForkMutex mutex{2};
  std::string path;
  std::map<uint32_t, uint32_t> resets; // device -> who requested what closed it
};
Own &own() {
  static Own *const only = new Own; // threads may still use it at exit
  return *only;
}

Page *ownPage() { return static_cast<Page *>(detail::publishedPage.load(std::memory_order_acquire)); }

/// Holds the lock of the file, which marks it as current.
constinit std::atomic<int> held{-1};

/// A forked child has no file yet, and does not hold its parent's. The parent's stays mapped: threads of the child may
/// read it.
[[maybe_unused]] const int forkRegistered = ::pthread_atfork(nullptr, nullptr, [] {
  if (const int descriptor = held.exchange(-1); descriptor >= 0)
    ::close(descriptor);
  detail::publishedPage.store(nullptr);
  detail::pendingResets.store(&noResets);
});

/// The file is removed with the process, unless that is killed.
const struct AtExit {
  ~AtExit() {
    if (ownPage())
      ::unlink(own().path.c_str());
  }
} atExit;

/// The row of a device; null if it has none.
Row *find(uint32_t device) {
  Page *const page = ownPage();
  if (!page)
    return nullptr;
  const uint32_t used = page->rowsUsed.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; ++i)
    if (page->rows[i].device.load(std::memory_order_acquire) == device + 1)
      return &page->rows[i];
  return nullptr;
}

void add(Figure &figure, int64_t value) { // writers of a row take turns, so that nothing of a sum is lost
  figure.store(figure.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

/// Creates the file of the process. A failure is not reported: programs do not depend on it.
Page *createPage() {
  Own &mine = own();
  const std::string folder = publicationFolder();
  if (folder.empty() || (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) || !publicationProblem().empty())
    return nullptr;
  clean(folder);
  const auto process = static_cast<uint32_t>(::getpid());
  const std::string path = folder + "/" + std::to_string(process), unfinished = folder + "/." + std::to_string(process);
  ::unlink(unfinished.c_str());
  const File file{::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  // A separate one: children inherit the mapping, which would keep the lock of the descriptor with which it was
  // created.
  File lock{::open(unfinished.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  // The memory is allocated now: a full disk would end the process at its first write.
  if (!file || !lock || !takeFile(lock.get(), Holder::Descriptor) ||
      ::posix_fallocate(file.get(), 0, sizeof(Page)) != 0) {
    ::unlink(unfinished.c_str());
    return nullptr;
  }
  void *mapped = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    ::unlink(unfinished.c_str());
    return nullptr;
  }
  Page *const page = new (mapped) Page{};
  page->magic = magic;
  page->bytes = sizeof(Page);
  page->process = process;
  if (::rename(unfinished.c_str(), path.c_str()) != 0) {
    ::unlink(unfinished.c_str());
    ::munmap(mapped, sizeof(Page));
    return nullptr;
  }
  mine.path = path;
  held.store(lock.release());
  detail::publishedPage.store(page, std::memory_order_release);
  detail::pendingResets.store(&page->pendingResets, std::memory_order_release);
  return page;
}

const MeshDevice &wholeOf(const MeshDevice &device) { return device.parent() ? *device.parent() : device; }

std::string resetText(uint32_t process) {
  return "reset from outside (tt-smi, process " + std::to_string(process) + "); open it again";
}

/// Returns the process that requested a reset of the mesh that the device is, or of which it is a part; 0: no process.
uint32_t requested(const MeshDevice &device) {
  const Row *row = find(wholeOf(device).id());
  return row ? row->reset.load(std::memory_order_acquire) : 0;
}

[[noreturn]] void throwReset(const MeshDevice &device, uint32_t process) {
  const MeshDevice &whole = wholeOf(device);
  throw ResetError("device " + std::to_string(whole.id()) + " (" + std::to_string(whole.rows()) + "x" +
                   std::to_string(whole.columns()) + " " + std::string(toString(whole.chip().arch)) + ") was " +
                   resetText(process));
}

} // namespace

void publish(const MeshDevice &device) {
  if (device.parent() && !find(device.parent()->id()))
    return;
  std::lock_guard lock(own().mutex);
  Page *page = ownPage();
  if (!page && !(page = createPage()))
    return;
  uint32_t index = 0;
  while (index < maxRows && page->rows[index].device.load(std::memory_order_relaxed))
    ++index;
  if (index == maxRows)
    return;
  Row &row = page->rows[index];
  row.reset.store(0, std::memory_order_relaxed);
  row.rows.store(device.rows(), std::memory_order_relaxed);
  row.columns.store(device.columns(), std::memory_order_relaxed);
  row.firstChip = device.chips().first;
  row.lastChip = device.chips().last;
  row.whole = device.parent() ? device.parent()->id() + 1 : 0;
  row.firstRow = device.place().firstRow;
  row.firstColumn = device.place().firstColumn;
  row.clockMHz = static_cast<uint32_t>(device.chip().speed.clockGHz * 1000 + 0.5);
  std::memset(row.arch, 0, sizeof row.arch);
  const std::string_view arch = toString(device.chip().arch);
  std::memcpy(row.arch, arch.data(), std::min(arch.size(), sizeof row.arch - 1));
  row.openedNs = clockNs(CLOCK_REALTIME);
  for (Figure *figure : {&row.programs, &row.ops, &row.cycles, &row.chipNs, &row.busyNs, &row.busySince})
    figure->store(0, std::memory_order_relaxed);
  device.withMemories([&](const Memories &memories) {
    for (size_t i = 0; i < memoryCount; ++i) {
      const auto memory = static_cast<Memory>(i);
      row.banks[i] = memories.bankCount(memory);
      row.total[i] = memories[memory].capacity();
      row.used[i].store(device.parent() ? 0 : memories[memory].allocated(), std::memory_order_relaxed);
      row.peak[i].store(memories[memory].peak(), std::memory_order_relaxed);
    }
  });
  row.device.store(device.id() + 1, std::memory_order_release);
  if (index >= page->rowsUsed.load(std::memory_order_relaxed))
    page->rowsUsed.store(index + 1, std::memory_order_release);
}

void published::noteShape(uint32_t device, uint32_t rows, uint32_t columns) {
  if (Row *const row = find(device)) {
    row->rows.store(rows, std::memory_order_relaxed);
    row->columns.store(columns, std::memory_order_relaxed);
  }
}

static void note(Row &row, Memory memory, const Memories &memories, const Memories *whole) {
  const auto i = static_cast<size_t>(memory);
  const BankAllocator &bank = memories[memory];
  row.used[i].store(bank.allocated() - (whole ? (*whole)[memory].allocated() : 0), std::memory_order_relaxed);
  row.peak[i].store(bank.peak(), std::memory_order_relaxed);
}

void detail::noteMemories(uint32_t device, const Memories &memories, const Memories *whole) {
  if (Row *const row = find(device))
    for (size_t i = 0; i < memoryCount; ++i)
      note(*row, static_cast<Memory>(i), memories, whole);
}

void detail::noteMemory(uint32_t device, Memory memory, const Memories &memories, const Memories *whole) {
  if (Row *const row = find(device))
    note(*row, memory, memories, whole);
}

void detail::noteRun(uint32_t device, const RunTotals &run) {
  Row *const row = find(device);
  if (!row)
    return;
  add(row->programs, run.programs);
  add(row->ops, run.ops);
  add(row->cycles, run.cycles);
  add(row->chipNs, static_cast<int64_t>(run.ns));
}

void published::withdraw(const MeshDevice &device) {
  Page *const page = ownPage();
  if (!page)
    return;
  std::lock_guard lock(own().mutex);
  Row *const row = find(device.id());
  if (!row)
    return;
  if (Row *const whole = device.parent() ? find(device.parent()->id()) : nullptr)
    // The run times of a part are kept: the average over the chips' times.
    device.withMemories([&](const Memories &) {
      const double part = double(row->rows) * row->columns / (double(whole->rows) * whole->columns);
      add(whole->programs, row->programs.load(std::memory_order_relaxed));
      add(whole->ops, row->ops.load(std::memory_order_relaxed));
      for (const auto figure : {&Row::cycles, &Row::chipNs})
        add(whole->*figure, static_cast<int64_t>(part * double((row->*figure).load(std::memory_order_relaxed))));
    });
  row->device.store(0, std::memory_order_release);
  if (const uint32_t process = row->reset.exchange(0, std::memory_order_acq_rel)) {
    own().resets[device.id()] = process;
    page->pendingResets.fetch_sub(1, std::memory_order_acq_rel);
  }
}

std::string published::closedBy(uint32_t device) {
  std::lock_guard lock(own().mutex);
  const auto found = own().resets.find(device);
  return found == own().resets.end() ? "" : ": it was " + resetText(found->second);
}

void detail::checkReset(const MeshDevice &device) {
  if (const uint32_t process = requested(device))
    throwReset(device, process);
}

void detail::endIfReset(MeshDevice &device) {
  const uint32_t process = requested(device);
  if (!process)
    return;
  const auto whole = device.parent() ? device.parent() : device.shared_from_this();
  std::lock_guard running(whole->runMutex()); // another thread may be about to do the same
  if (whole->isOpen())
    whole->close();
  throwReset(device, process);
}

void Busy::begin(const MeshDevice &given) {
  device = wholeOf(given).id();
  Row *const found = find(device);
  if (!found || found->busySince.load(std::memory_order_relaxed))
    return;
  row = found;
  since = coarseNow();
  found->busySince.store(since, std::memory_order_relaxed);
}

void Busy::end() noexcept {
  Row &mine = *static_cast<Row *>(row);
  if (mine.device.load(std::memory_order_relaxed) != device + 1)
    return; // it was closed meanwhile
  add(mine.busyNs, coarseNow() - since);
  mine.busySince.store(0, std::memory_order_relaxed);
}

} // namespace tt::sim
