//===- queues.cpp - queues of tensors that processes share ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "queues.h"

#include "tt/file_lock.h"
#include "tt/fork.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/futex.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace tt::backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<char, 8> magic = {'T', 'T', 'Q', 'U', 'E', 'U', 'E', '1'};
constexpr size_t alignment = 64;
constexpr size_t mostName = 231;
/// The memory that a queue may take, and the number of microbatches that it then holds.
constexpr size_t queueBytes = 8 << 20;
constexpr uint64_t fewestSlots = 2, mostSlots = 64;
/// The interval at which a waiting process checks whether the process that runs programs still exists.
constexpr std::chrono::milliseconds look(100);

enum State : uint32_t { Open, Closed };

/// A lock that can be taken over from a killed process: the guarded state changes in one store.
class Lock {
public:
  explicit Lock(pthread_mutex_t &mutex) : mutex(&mutex) {}
  Lock(Lock &&other) noexcept : mutex(other.mutex), held(std::exchange(other.held, false)) {}
  ~Lock() { unlock(); }
  /// Returns false if another has held it for a while.
  bool tryFor(std::chrono::milliseconds time) {
    const auto until = std::chrono::system_clock::now() + time;
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(until.time_since_epoch()).count();
    const timespec end{ns / 1'000'000'000, ns % 1'000'000'000};
    const int code = ::pthread_mutex_timedlock(mutex, &end);
    if (code == EOWNERDEAD)
      ::pthread_mutex_consistent(mutex);
    else if (code == ETIMEDOUT)
      return false;
    else if (code != 0)
      throw Error(std::string("a queue cannot be locked: ") + std::strerror(code));
    return held = true;
  }
  void unlock() {
    if (std::exchange(held, false))
      ::pthread_mutex_unlock(mutex);
  }

private:
  pthread_mutex_t *mutex;
  bool held = false;
};

/// Sleeps until the number differs from the last seen one, for a while at most. Works between processes.
void sleepOn(std::atomic<uint32_t> &number, uint32_t seen, Clock::duration time) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  const timespec most{ns / 1'000'000'000, ns % 1'000'000'000};
  ::syscall(SYS_futex, &number, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void change(std::atomic<uint32_t> &number) {
  number.fetch_add(1);
  ::syscall(SYS_futex, &number, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

const std::string folder = "/dev/shm/";

/// Returns the prefix of the names of this user's files.
std::string prefix() { return "ttqueues-" + std::to_string(::geteuid()) + "-"; }

/// Takes the lock, which a cleaning process holds for a moment.
bool takeSoon(int descriptor) {
  const auto until = Clock::now() + look;
  while (!takeFile(descriptor, Holder::Process)) {
    if (Clock::now() >= until)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Whether the path is still that of the file.
bool isNamed(int descriptor, const std::string &path) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Removes files whose processes were killed. It holds their locks meanwhile, so that no process begins to use one.
/// Files of this process are skipped: closing one of their descriptors would end their locks.
void clean(const std::map<std::string, std::shared_ptr<Queues>> &known) {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path();
    if (!entry.path().filename().string().starts_with(prefix()) || known.contains(path))
      continue;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
      continue;
    if (takeFile(file, Holder::Descriptor) && isNamed(file, path))
      ::unlink(path.c_str());
    ::close(file);
  }
}

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

struct Registry {
  ForkAware<std::mutex> mutex;
  std::map<std::string, std::shared_ptr<Queues>> found;
};
Registry &registry() {
  static Registry *const only = new Registry; // threads may still use it at exit
  return *only;
}

} // namespace

struct Queues::Header {
  std::array<char, 8> magic;
  uint64_t bytes;
  uint32_t rows;
  pid_t owner;
  std::atomic<uint32_t> state, running, failed;
  char failure[1024];
};

struct alignas(alignment) Queues::Row {
  char name[mostName + 1];
  bool input;
  DataType dtype;
  uint8_t rank;
  uint32_t shape[PY_TENSOR_DIMS];
  uint64_t entryBytes, capacity; // in entries
  uint64_t offset;               // of the entries in the file
  pthread_mutex_t mutex;
  std::atomic<uint64_t> written, taken; // entries, ever
  std::atomic<uint32_t> changes;

  uint64_t filled() const { return written.load() - taken.load(); }
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

std::string Queues::pathFor(const std::string &outputPath) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (const unsigned char c : outputPath)
    hash = (hash ^ c) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return folder + prefix() + text;
}

void Queues::map(size_t size) {
  void *const found = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (found == MAP_FAILED)
    throw Error(path + ": cannot be mapped: " + std::strerror(errno));
  memory = static_cast<std::byte *>(found);
  bytes = size;
  header = reinterpret_cast<Header *>(memory);
}

std::span<Queues::Row> Queues::rows() const {
  return {reinterpret_cast<Row *>(memory + aligned(sizeof(Header))), header->rows};
}

std::shared_ptr<Queues> Queues::create(const std::string &path, std::span<const Port> inputs,
                                       std::span<const Port> outputs) {
  Registry &known = registry();
  std::lock_guard lock(known.mutex);
  if (const auto found = known.found.find(path); found != known.found.end() && found->second->header->state == Open) {
    if (found->second->isOwner())
      throw Error("another backend of this process is initialized with this output path");
    known.found.erase(found);
  }
  clean(known.found);
  const std::shared_ptr<Queues> created(new Queues);
  created->path = path;
  // A file of a process that has ended is created again: others may still have the old one mapped.
  for (;;) {
    created->descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat status;
    if (created->descriptor < 0 || ::fstat(created->descriptor, &status) != 0)
      throw Error(path + ": cannot be created: " + std::strerror(errno));
    if (!takeSoon(created->descriptor))
      throw Error("another process runs an image with this output path; each needs its own");
    const bool current = isNamed(created->descriptor, path);
    if (current && status.st_size == 0)
      break;
    if (current)
      ::unlink(path.c_str());
    ::close(created->descriptor);
  }
  std::vector<std::pair<const Port *, bool>> ports;
  for (const Port &each : inputs)
    ports.emplace_back(&each, true);
  for (const Port &each : outputs)
    ports.emplace_back(&each, false);
  size_t size = aligned(sizeof(Header)) + ports.size() * sizeof(Row);
  for (const auto &[port, input] : ports)
    size += aligned(port->bytes() * slotsOf(*port));
  // Memory that is mapped before it is accessed.
  if (const int code = ::posix_fallocate(created->descriptor, 0, static_cast<off_t>(size)); code != 0) {
    ::unlink(path.c_str());
    throw Error(path + ": no room for queues of " + std::to_string(size) + " bytes: " + std::strerror(code));
  }
  created->map(size);
  Header &header = *new (created->memory) Header{};
  header.bytes = size;
  header.rows = static_cast<uint32_t>(ports.size());
  header.owner = ::getpid();
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  ::pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  size_t offset = aligned(sizeof(Header)) + ports.size() * sizeof(Row);
  Row *row = created->rows().data();
  for (const auto &[port, input] : ports) {
    if (port->name.size() > mostName)
      throw Error("a queue's name has " + std::to_string(port->name.size()) + " bytes; expected " +
                  std::to_string(mostName) + " at most");
    new (row) Row{};
    std::ranges::copy(port->name, row->name);
    row->input = input;
    row->dtype = port->dtype;
    row->rank = static_cast<uint8_t>(port->shape.size());
    std::ranges::copy(port->shape, row->shape);
    row->entryBytes = port->bytes() / port->entries();
    row->capacity = port->entries() * slotsOf(*port);
    row->offset = offset;
    ::pthread_mutex_init(&row->mutex, &kind);
    offset += aligned(port->bytes() * slotsOf(*port));
    ++row;
  }
  ::pthread_mutexattr_destroy(&kind);
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = magic;
  known.found[path] = created;
  return created;
}

std::shared_ptr<Queues> Queues::open(const std::string &path) {
  const std::string missing = "no backend with this output path is initialized";
  const std::shared_ptr<Queues> found(new Queues);
  found->path = path;
  found->descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat status;
  if (found->descriptor < 0 || ::fstat(found->descriptor, &status) != 0 || status.st_uid != ::geteuid() ||
      static_cast<size_t>(status.st_size) < aligned(sizeof(Header)))
    throw Error(missing);
  found->map(static_cast<size_t>(status.st_size));
  const Header &header = *found->header;
  if (header.magic != magic || header.bytes != found->bytes || header.state != Open ||
      !isFileTaken(found->descriptor) || header.rows > (found->bytes - aligned(sizeof(Header))) / sizeof(Row))
    throw Error(missing);
  std::atomic_thread_fence(std::memory_order_acquire);
  return found;
}

std::shared_ptr<Queues> Queues::at(const std::string &path) {
  Registry &known = registry();
  std::lock_guard lock(known.mutex);
  if (const auto found = known.found.find(path); found != known.found.end()) {
    const Queues &queues = *found->second;
    if (queues.header->state == Open && (queues.isOwner() || isFileTaken(queues.descriptor)))
      return found->second;
    // A backend that has finished, or was killed, may have been replaced by another.
    known.found.erase(found);
  }
  return known.found.emplace(path, open(path)).first->second;
}

bool Queues::isOwner() const { return header->owner == ::getpid(); }

Queues::~Queues() {
  if (memory)
    ::munmap(memory, bytes);
  if (descriptor >= 0)
    ::close(descriptor);
}

Queues::Row &Queues::row(const std::string &name, bool input) const {
  for (Row &each : rows())
    if (name == each.name) {
      if (each.input != input)
        throw Error(name + " is a queue of " + (each.input ? "inputs" : "outputs"));
      return each;
    }
  throw Error("there is no queue " + name);
}

Port Queues::port(const Row &row) { return {row.name, Shape(row.shape, row.shape + row.rank), row.dtype}; }

uint64_t Queues::slotsOf(const Port &port) {
  return std::clamp<uint64_t>(queueBytes / std::max<size_t>(port.bytes(), 1), fewestSlots, mostSlots);
}

template <class Ready> auto Queues::locked(Row &row, int64_t seconds, Watch *watch, const char *forWhat, Ready ready) {
  const auto limit = std::chrono::seconds(seconds);
  auto end = Clock::now() + limit;
  bool waiting = false;
  for (;;) {
    const uint32_t seen = row.changes.load();
    if (header->state != Open)
      throw Error("the backend is finished");
    Lock lock(row.mutex);
    if (lock.tryFor(look) && ready()) {
      if (waiting)
        watch->goesOn();
      return lock;
    }
    lock.unlock();
    if (!watch && header->failed.load(std::memory_order_acquire))
      throw Error(header->failure);
    if (!isOwner() && !isFileTaken(descriptor))
      throw Error("process " + std::to_string(header->owner) + ", which runs the programs, has ended");
    const std::string what = row.name + std::string(" ") + forWhat;
    if (watch && !std::exchange(waiting, true))
      watch->waits(what);
    const auto now = Clock::now();
    if (header->running.load())
      end = now + limit;
    else if (seconds >= 0 && now >= end)
      throw TimeoutError(what);
    sleepOn(row.changes, seen, seconds < 0 ? look : std::min<Clock::duration>(look, end - now));
  }
}

void Queues::push(Row &row, const std::byte *values, uint64_t entries, int64_t seconds, Watch *watch) {
  const auto lock = locked(row, seconds, watch, "is full", [&] { return row.filled() + entries <= row.capacity; });
  const uint64_t at = row.written.load() % row.capacity, first = std::min(entries, row.capacity - at);
  std::byte *const ring = memory + row.offset;
  std::memcpy(ring + at * row.entryBytes, values, first * row.entryBytes);
  std::memcpy(ring, values + first * row.entryBytes, (entries - first) * row.entryBytes);
  row.written.fetch_add(entries);
  change(row.changes);
}

void Queues::wait(Row &row, uint64_t entries, int64_t seconds, Watch *watch) {
  locked(row, seconds, watch, "is empty", [&] { return row.filled() >= entries; });
}

void Queues::peek(Row &row, std::byte *values, uint64_t entries, int64_t seconds) {
  const auto lock = locked(row, seconds, nullptr, "is empty", [&] { return row.filled() >= entries; });
  const uint64_t at = row.taken.load() % row.capacity, first = std::min(entries, row.capacity - at);
  const std::byte *const ring = memory + row.offset;
  std::memcpy(values, ring + at * row.entryBytes, first * row.entryBytes);
  std::memcpy(values + first * row.entryBytes, ring, (entries - first) * row.entryBytes);
}

void Queues::pop(Row &row, uint64_t entries, int64_t seconds) {
  const auto lock = locked(row, seconds, nullptr, "is empty", [&] { return row.filled() >= entries; });
  row.taken.fetch_add(entries);
  change(row.changes);
}

void Queues::setRunning(bool running) { header->running.store(running); }

void Queues::fail(const std::string &why) {
  const size_t count = std::min(why.size(), sizeof header->failure - 1);
  std::memcpy(header->failure, why.data(), count);
  header->failure[count] = 0;
  header->failed.store(1, std::memory_order_release);
  for (Row &each : rows())
    change(each.changes);
}

void Queues::close() {
  header->state = Closed;
  for (Row &each : rows())
    change(each.changes);
  if (!isOwner())
    return;
  ::unlink(path.c_str());
  Registry &known = registry();
  std::lock_guard lock(known.mutex);
  if (const auto found = known.found.find(path); found != known.found.end() && found->second.get() == this)
    known.found.erase(found);
}

} // namespace tt::backend
