//===- host.cpp - host memory that holds the values -----------------------===//

#include "tt/sim/host.h"
#include "tt/types.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>

namespace tt::sim {
namespace {

// Below this, malloc's own lists are as good; above, a fresh mapping would be zeroed page by page each time.
constexpr size_t keptFrom = size_t(64) << 10;
constexpr size_t keptInTotal = size_t(1) << 30;

/// Buffers waiting for their next user, by size. Never destroyed: tensors of static duration may outlive it.
class Pool {
public:
  /// `actual` becomes the size of the buffer given.
  std::byte *take(size_t bytes, size_t &actual) {
    std::lock_guard lock(mutex);
    // A buffer up to a quarter larger will do.
    auto found = buffers.lower_bound(bytes);
    if (found == buffers.end() || found->first > bytes + bytes / 4)
      return nullptr;
    std::byte *data = found->second;
    kept -= found->first;
    actual = found->first;
    buffers.erase(found);
    return data;
  }

  bool give(std::byte *data, size_t bytes) {
    std::lock_guard lock(mutex);
    if (kept + bytes > keptInTotal)
      return false;
    buffers.emplace(bytes, data);
    kept += bytes;
    return true;
  }

  void trim() {
    std::lock_guard lock(mutex);
    for (auto &[bytes, data] : buffers)
      std::free(data);
    buffers.clear();
    kept = 0;
  }

private:
  std::mutex mutex;
  std::multimap<size_t, std::byte *> buffers;
  size_t kept = 0;
};

Pool &pool() {
  static Pool *instance = new Pool;
  return *instance;
}

std::atomic<size_t> limit{0};

size_t physicalMemory() {
  static const size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(size) : ~size_t(0);
  }();
  return bytes;
}

} // namespace

size_t hostMemoryLimit() {
  const size_t set = limit.load(std::memory_order_relaxed);
  return set ? std::min(set, physicalMemory()) : physicalMemory();
}

void setHostMemoryLimit(size_t bytes) { limit.store(bytes, std::memory_order_relaxed); }

void trimHostMemory() { pool().trim(); }

std::shared_ptr<std::byte> allocateHost(size_t bytes, const char *purpose) {
  const auto fail = [&](const std::string &why) {
    throw OutOfMemoryError("out of host memory: " + std::to_string(bytes) + " bytes for " + purpose + "; " + why);
  };
  if (bytes > hostMemoryLimit())
    fail("the limit is " + std::to_string(hostMemoryLimit()) + " bytes");
  const size_t rounded = std::max((bytes + hostAlignment - 1) / hostAlignment, size_t(1)) * hostAlignment;
  if (rounded >= keptFrom) {
    size_t actual = rounded;
    if (std::byte *data = pool().take(rounded, actual))
      return std::shared_ptr<std::byte>(data, [actual](std::byte *buffer) {
        if (!pool().give(buffer, actual))
          std::free(buffer);
      });
  }
  auto *data = static_cast<std::byte *>(std::aligned_alloc(hostAlignment, rounded));
  if (!data)
    fail("the operating system refused");
  return std::shared_ptr<std::byte>(data, [rounded](std::byte *buffer) {
    if (rounded < keptFrom || !pool().give(buffer, rounded))
      std::free(buffer);
  });
}

} // namespace tt::sim
