//===- orders.cpp - weights in the orders of the kernel library -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/orders.h"
#include "base/touch.h"
#include "core/library.h"
#include "tt/recycle.h"
#include "tt/ttnn/orders.h"
#include "tt/types.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <utility>

namespace tt::ttnn {
namespace {

constexpr size_t hugePage = size_t(1) << 21;
constexpr size_t mostReserved = size_t(32) << 20, mostIdle = size_t(64) << 20;
std::atomic<uint64_t> madeOrders{0}, reusedOrders{0};
thread_local WeightOrders *innermost = nullptr;

} // namespace

/// Memory whose pages are mapped. Pieces are allocated and freed; the first sufficiently large place is used.
class WeightOrders::Reserve {
public:
  explicit Reserve(size_t bytes) : bytes(bytes), memory(static_cast<std::byte *>(freshMemory(bytes))) {
    if (!memory)
      throw std::bad_alloc();
    touchPages(memory, bytes);
    free.emplace(0, bytes);
  }
  ~Reserve() { freeFresh(memory, bytes); }
  Reserve(const Reserve &) = delete;

  /// nullptr if no place is large enough.
  static std::shared_ptr<std::byte> take(const std::shared_ptr<Reserve> &from, size_t requested) {
    const size_t size = whole(requested);
    std::lock_guard lock(from->mutex);
    const auto found = std::ranges::find_if(from->free, [&](const auto &place) { return place.second >= size; });
    if (found == from->free.end())
      return nullptr;
    const auto [at, room] = *found;
    from->free.erase(found);
    if (room > size)
      from->free.emplace(at + size, room - size);
    std::byte *const data = from->memory + at;
    poison(data, size);
    return {data, [from, at, size](std::byte *) { from->give(at, size); }};
  }

private:
  static size_t whole(size_t bytes) { return (std::max<size_t>(bytes, 1) + 63) / 64 * 64; }

  void give(size_t at, size_t size) noexcept {
    try {
      std::lock_guard lock(mutex);
      auto place = free.emplace(at, size).first;
      if (const auto next = std::next(place); next != free.end() && at + size == next->first) {
        place->second += next->second;
        free.erase(next);
      }
      if (place != free.begin())
        if (const auto before = std::prev(place); before->first + before->second == at) {
          before->second += place->second;
          free.erase(place);
        }
    } catch (const std::exception &) {
      // No memory, or a thread of the parent held the mutex at a fork: the piece is freed with the reserve.
    }
  }

  const size_t bytes;
  std::byte *const memory;
  ForkAware<std::mutex> mutex;
  std::map<size_t, size_t> free; // bytes by place; never side by side
};

WeightOrders::WeightOrders() = default;
WeightOrders::~WeightOrders() = default;

WeightOrderCounts weightOrderCounts() noexcept {
  return {madeOrders.load(std::memory_order_relaxed), reusedOrders.load(std::memory_order_relaxed)};
}
void WeightOrders::countReused() noexcept { reusedOrders.fetch_add(1, std::memory_order_relaxed); }

WeightOrders::Scope::Scope(WeightOrders *orders) : outer(std::exchange(innermost, orders)) {}
WeightOrders::Scope::~Scope() { innermost = outer; }

std::shared_ptr<std::byte> WeightOrders::takeCurrent(size_t bytes) {
  madeOrders.fetch_add(1, std::memory_order_relaxed);
  return innermost ? innermost->take(bytes) : library::AlignedBytes(bytes).share();
}

std::shared_ptr<std::byte> WeightOrders::take(size_t bytes) {
  std::lock_guard lock(mutex);
  taken += bytes;
  std::shared_ptr<std::byte> order = reserve ? Reserve::take(reserve, bytes) : nullptr;
  if (!order) {
    // Pieces of lasting memory have one owner for many.
    auto piece = library::AlignedBytes(bytes).share();
    std::byte *const data = piece.get();
    order = {data, [piece = std::move(piece)](std::byte *) {}};
  }
  kept.push_back({order, bytes});
  return order;
}

size_t WeightOrders::countIdle() const {
  size_t bytes = 0;
  for (const Kept &each : kept)
    bytes += each.order.use_count() == 1 ? each.bytes : 0;
  return bytes;
}

size_t WeightOrders::idleBytes() const {
  std::lock_guard lock(mutex);
  return countIdle();
}

void WeightOrders::settle() {
  std::lock_guard lock(mutex);
  if (!reserve && taken)
    reserve = std::make_shared<Reserve>(std::min(mostReserved, (taken + hugePage - 1) / hugePage * hugePage));
  size_t idle = countIdle();
  std::erase_if(kept, [&](const Kept &each) {
    if (idle <= mostIdle || each.order.use_count() > 1)
      return false;
    idle -= each.bytes;
    return true;
  });
}

} // namespace tt::ttnn
