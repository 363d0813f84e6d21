//===- host.cpp - host memory that holds the values -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/host.h"
#include "tt/recycle.h"
#include "tt/types.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace tt::sim {
namespace {

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

void trimHostMemory() { trimRecycled(); }

namespace {

[[noreturn]] void fail(size_t bytes, const char *purpose, const std::string &why) {
  throw OutOfMemoryError("out of host memory: " + std::to_string(bytes) + " bytes for " + purpose + "; " + why);
}

template <class Take, class Give>
std::shared_ptr<std::byte> owned(size_t bytes, const char *purpose, Take take, Give give) {
  if (bytes > hostMemoryLimit())
    fail(bytes, purpose, "the limit is " + std::to_string(hostMemoryLimit()) + " bytes");
  auto *data = static_cast<std::byte *>(take());
  if (!data)
    fail(bytes, purpose, "the operating system refused");
  return {data, give, Recycling<std::byte>()};
}

} // namespace

std::shared_ptr<std::byte> allocateHost(size_t bytes, const char *purpose) {
  return owned(
      bytes, purpose, [&] { return takeRecycled(bytes); }, [bytes](std::byte *data) { giveRecycled(data, bytes); });
}

std::shared_ptr<std::byte> allocateHostOnce(size_t bytes, const char *purpose) {
  return owned(
      bytes, purpose, [&] { return freshMemory(bytes); }, [bytes](std::byte *data) { freeFresh(data, bytes); });
}

} // namespace tt::sim
