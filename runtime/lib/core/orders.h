//===- orders.h - weights in the orders of the kernel library -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The kernel library chooses the order of weights by the size of the image, or the rows of a product, and has fast code
// only for that order. A program whose sizes are open therefore keeps the orders of previous sizes, and memory for
// those of other sizes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/fork.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

namespace tt::ttnn {

class WeightOrders {
public:
  WeightOrders();
  ~WeightOrders();
  WeightOrders(const WeightOrders &) = delete;

  /// Counts, for weightOrderCounts, an order that existed already.
  static void countReused() noexcept;

  /// While it exists, kernels that are created in this thread have their orders in the memory of `orders` or, if that
  /// is nullptr, in separate memory.
  class Scope {
  public:
    explicit Scope(WeightOrders *orders);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    WeightOrders *const outer;
  };
  /// Memory for one more order, in the innermost scope of this thread: it stays while it is in use, and afterwards as
  /// long as there is room for it. Without a scope, it is freed with its last user.
  static std::shared_ptr<std::byte> takeCurrent(size_t bytes);

  /// Call this after a plan has been created. From the second plan on, other orders of its weights reuse memory and
  /// take no fresh pages.
  void settle();

  /// Bytes of orders that no kernel uses.
  size_t idleBytes() const;

private:
  class Reserve;
  struct Kept {
    std::shared_ptr<std::byte> order;
    size_t bytes;
  };
  std::shared_ptr<std::byte> take(size_t bytes);
  size_t countIdle() const;

  mutable ForkAware<std::mutex> mutex;
  std::shared_ptr<Reserve> reserve;
  std::deque<Kept> kept; // the oldest first
  size_t taken = 0;      // bytes
};

} // namespace tt::ttnn
