//===- published.cpp - open meshes, as other processes see them -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/published.h"

#include "tt/file_lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tt::sim {
namespace {

constinit const std::atomic<uint32_t> noResets{0};

} // namespace

constinit std::atomic<void *> detail::publishedPage{nullptr};
constinit std::atomic<const std::atomic<uint32_t> *> detail::pendingResets{&noResets};

namespace {

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

constexpr std::array<char, 8> magic = {'T', 'T', 'C', 'H', 'I', 'P', 'S', '2'};
constexpr size_t maxRows = 64; // meshes of a process; more are not published

using Figure = std::atomic<int64_t>;
static_assert(Figure::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

/// A mesh. What does not change is written before `device`.
struct Row {
  std::atomic<uint32_t> device; // its id, and one; 0 in a row that is free
  std::atomic<uint32_t> reset;  // the process that asked for it
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

int64_t clockNs(clockid_t clock) {
  struct timespec time;
  ::clock_gettime(clock, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// Good to a few milliseconds, and twenty times cheaper to read than the exact clock: over many runs the error is none.
int64_t coarseNow() { return clockNs(CLOCK_MONOTONIC_COARSE); }

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

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

bool isOwnFolder(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

std::string temporaryFolder() { return "/tmp/ttmlir-" + std::to_string(::geteuid()); }
/// What XDG_RUNTIME_DIR is of users who have logged in.
std::string loginFolder() { return "/run/user/" + std::to_string(::geteuid()); }

/// The directory that the process was in when it loaded the library: relative paths are of this one.
const std::filesystem::path &startDirectory() {
  static const auto *const only = [] {
    std::error_code ignored;
    return new std::filesystem::path(std::filesystem::current_path(ignored));
  }();
  return *only;
}
[[maybe_unused]] const auto &noted = startDirectory();

std::optional<std::string> givenFolder() {
  const char *given = std::getenv("TTRT_PUBLISH");
  if (!given || !*given)
    return std::nullopt;
  return given == std::string("0") ? "" : (startDirectory() / given).string();
}

/// Those that files of running processes may be in.
std::vector<std::string> foldersToRead() {
  if (const auto given = givenFolder())
    return given->empty() ? std::vector<std::string>() : std::vector{*given};
  // Programs may have been started with another XDG_RUNTIME_DIR, or with none.
  std::vector<std::string> folders = {temporaryFolder()};
  if (isOwnFolder(loginFolder()))
    folders.push_back(loginFolder() + "/ttmlir");
  if (const std::string own = publicationFolder(); std::ranges::find(folders, own) == folders.end())
    folders.push_back(own);
  if (::geteuid() != 0)
    return folders;
  for (const auto &[parent, prefix, suffix] :
       {std::array<std::string, 3>{"/tmp", "ttmlir-", ""}, {"/run/user", "", "/ttmlir"}}) {
    DIR *found = ::opendir(parent.c_str());
    while (const dirent *each = found ? ::readdir(found) : nullptr) {
      const std::string name = each->d_name, path = parent + "/" + name + suffix;
      if (name.starts_with(prefix) && name[0] != '.' && std::ranges::find(folders, path) == folders.end())
        folders.push_back(path);
    }
    if (found)
      ::closedir(found);
  }
  return folders;
}

std::vector<std::string> entriesOf(const std::string &folder) {
  std::vector<std::string> names;
  DIR *found = ::opendir(folder.c_str());
  while (const dirent *each = found ? ::readdir(found) : nullptr)
    if (each->d_name[0] != '.')
      names.emplace_back(each->d_name);
  if (found)
    ::closedir(found);
  std::ranges::sort(names);
  return names;
}

/// The process that a file is of by its name, 0 for another file.
uint32_t processOf(const std::string &name) {
  if (name.empty() || name.size() > 9 || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  return static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
}

/// Whether nobody holds the file: its process has ended, or is another program now. Then it is removed.
bool removedAsStale(const File &file, const std::string &path) {
  if (isFileTaken(file.get()))
    return false;
  struct stat opened, named;
  if (::fstat(file.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino)
    ::unlink(path.c_str());
  return true;
}

/// Removes files of processes that are gone.
void clean(const std::string &folder) {
  for (const std::string &name : entriesOf(folder))
    if (const std::string path = folder + "/" + name; processOf(name))
      if (const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)})
        removedAsStale(file, path);
}

//===----------------------------------------------------------------------===//
// This process's own
//===----------------------------------------------------------------------===//

struct Own {
  ForkMutex mutex{2};
  std::string path;
  std::map<uint32_t, uint32_t> resets; // device -> who asked for what closed it
};
Own &own() {
  static Own *const only = new Own; // threads may still use it at exit
  return *only;
}

Page *ownPage() { return static_cast<Page *>(detail::publishedPage.load(std::memory_order_acquire)); }

/// Holds the lock of the file, which says that it is not stale.
constinit std::atomic<int> held{-1};

/// A child that was forked has no file yet, and does not hold its parent's. That stays mapped: threads of the child may
/// look at it.
[[maybe_unused]] const int forkRegistered = ::pthread_atfork(nullptr, nullptr, [] {
  if (const int descriptor = held.exchange(-1); descriptor >= 0)
    ::close(descriptor);
  detail::publishedPage.store(nullptr);
  detail::pendingResets.store(&noResets);
});

/// The file goes with the process, unless that is killed.
const struct AtExit {
  ~AtExit() {
    if (ownPage())
      ::unlink(own().path.c_str());
  }
} atExit;

/// The row of a device; null when it has none.
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

/// Makes the file of the process. Nothing is said where that is not possible: programs do not depend on it.
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
  // One of its own: children inherit the mapping, which would keep the lock of the descriptor that it was made with.
  File lock{::open(unfinished.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  // The memory is had now: a full disk would end the process when it writes.
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
  return "reset from outside (tt-smi, process " + std::to_string(process) + "); open it anew";
}

/// Who asked for a reset of the mesh that the device is, or is a part of; 0: nobody.
uint32_t asked(const MeshDevice &device) {
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

std::string publicationFolder() {
  if (const auto given = givenFolder())
    return *given;
  const char *runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime && *runtime == '/' && isOwnFolder(runtime) ? std::string(runtime) + "/ttmlir" : temporaryFolder();
}

std::string publicationProblem() {
  const std::string folder = publicationFolder();
  if (folder.empty())
    return "off (TTRT_PUBLISH=0)";
  const auto unusable = [&](const std::filesystem::path &path) {
    return ::access(path.c_str(), W_OK | X_OK) == 0 ? "" : path.string() + ": " + std::strerror(errno);
  };
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0)
    return errno == ENOENT
               ? unusable(std::filesystem::path(folder + "/.").lexically_normal().parent_path().parent_path())
               : folder + ": " + std::strerror(errno);
  if (!S_ISDIR(info.st_mode))
    return folder + ": is no folder";
  if (info.st_uid != ::geteuid())
    return folder + ": belongs to another user";
  return unusable(folder);
}

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
    // What has run on a part stays known: of the chips' time, the average.
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
  if (const uint32_t process = asked(device))
    throwReset(device, process);
}

void detail::endIfReset(MeshDevice &device) {
  const uint32_t process = asked(device);
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

//===----------------------------------------------------------------------===//
// Others'
//===----------------------------------------------------------------------===//

namespace {

/// A copy of a file, or why it is none; nothing when it is stale.
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
  mesh.resetAskedBy = row.reset.load();
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
        uint32_t nobody = 0;
        page.pendingResets.fetch_add(1, std::memory_order_acq_rel);
        if (!row.reset.compare_exchange_strong(nobody, static_cast<uint32_t>(::getpid())))
          page.pendingResets.fetch_sub(1, std::memory_order_acq_rel); // somebody has asked already
        return;
      }
  }
  throw DeviceError(what + ": there is none");
}

} // namespace tt::sim
