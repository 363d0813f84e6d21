//===- kernel_clock.h - the time of a kernel on the chip --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A kernel's clock advances by its own work, and to the time at which the awaited event happens. Times are stored with
// pages and semaphores, so they do not depend on the order in which kernels are simulated.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/activity.h"
#include "ttmlir/costs/CostModel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tt::metal {

/// Work of a kernel on the chip, for the clock.
struct Work {
  int64_t matmulTiles = 0; // in passes of the matrix unit
  int64_t fpuTiles = 0, sfpuTiles = 0;
  int64_t movedBytes = 0;
  int64_t fabricBytes = 0; // sent to other chips, times hops
  int64_t fabricHops = 0;  // of the longest way
};

/// Cycles for the coordinates of one router to the next (tt-isa-documentation, NoC).
inline constexpr double hopCycles = 9;

/// The steps of a kernel, in a bounded number.
class StepLog {
public:
  static constexpr size_t most = 512;

  void add(const KernelStep &step) {
    if (!steps.empty() && steps.back().activity == step.activity && steps.back().awaited == step.awaited) {
      steps.back().end = step.end;
      return;
    }
    if (steps.size() == most)
      merge();
    steps.push_back(step);
  }
  std::vector<KernelStep> take() { return std::move(steps); }

private:
  /// Makes one step of two neighbors: what the longer one did.
  void merge() {
    const auto length = [](const KernelStep &step) { return step.end - step.begin; };
    for (size_t i = 0; i < most / 2; ++i) {
      const KernelStep &first = steps[2 * i], &second = steps[2 * i + 1];
      KernelStep whole = length(first) < length(second) ? second : first;
      whole.begin = first.begin;
      whole.end = second.end;
      steps[i] = whole;
    }
    steps.resize(most / 2);
  }
  std::vector<KernelStep> steps;
};

/// Times are cycles since the program began.
struct KernelClock {
  double now = 0;
  double computing = 0, moving = 0, waiting = 0; // parts of `now`
  double landed = 0;                             // when the last transfer is at its end
  std::map<Awaited, double> waits;               // parts of `waiting`
  StepLog *log = nullptr;                        // of a recording

  /// Adds the work of math since the last call. Matrix and vector unit take turns; tiles pass through unpacker, matrix
  /// unit and packer at the same time.
  void compute(const Work &work, const ttmlir::cost::Speed &speed) {
    if (work.matmulTiles == counted.matmulTiles && work.fpuTiles == counted.fpuTiles &&
        work.sfpuTiles == counted.sfpuTiles)
      return;
    const auto since = [](int64_t all, int64_t counted) { return static_cast<double>(all - counted); };
    const double math = since(work.matmulTiles, counted.matmulTiles) * speed.matmulTileCycles / speed.matmulShare +
                        since(work.sfpuTiles, counted.sfpuTiles) * speed.sfpuTileCycles;
    const double cycles = std::max(math, since(work.fpuTiles, counted.fpuTiles) * speed.fpuTileCycles);
    counted = work;
    computing += cycles;
    advance(now + cycles, Activity::Computes);
  }

  /// A transfer of the data movement processor over `hops` routers, for which it does not wait.
  void move(uint64_t bytes, uint64_t hops, const ttmlir::cost::Speed &speed) {
    const double cycles = std::max(speed.pieceCycles, static_cast<double>(bytes) / speed.pieceBytesPerCycle);
    moving += cycles;
    advance(now + cycles, Activity::Moves);
    landed = std::max(landed, now + static_cast<double>(hops) * hopCycles);
  }

  void waitUntil(double time, Awaited awaited) {
    if (time <= now)
      return;
    waiting += time - now;
    waits[awaited] += time - now;
    advance(time, Activity::Waits, awaited);
  }
  /// Waits for the transfers, because the next step needs them.
  void waitForTransfers() { waitUntil(landed, {Awaited::Kind::Transfers}); }

private:
  void advance(double to, Activity activity, Awaited awaited = {}) {
    if (log && to > now)
      log->add({now, to, activity, awaited});
    now = to;
  }
  Work counted;
};

/// The time at which a semaphore got its value, over all cores that have changed it.
class SemaphoreTime {
public:
  void changed(double time) {
    double before = last.load(std::memory_order_relaxed);
    while (before < time && !last.compare_exchange_weak(before, time, std::memory_order_release))
      ;
  }
  double at() const { return last.load(std::memory_order_acquire); }

private:
  std::atomic<double> last = 0;
};

} // namespace tt::metal
