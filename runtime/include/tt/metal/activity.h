//===- activity.h - what cores did while kernels ran ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The clock of kernels (docs/cost-model.md), core by core: who computes, who moves data, who waits and for what, and
// the bytes over each link of the network. Times are cycles since the program began.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tt::metal {

/// A worker core, by its place in the grid.
struct CoreCoord {
  uint32_t x = 0, y = 0;
  auto operator<=>(const CoreCoord &) const = default;
};

enum class Activity : uint8_t { Computes, Moves, Waits };

/// The cause of a wait: filled pages or room of a circular buffer, a semaphore, or the end of its own transfers.
struct Awaited {
  enum class Kind : uint8_t { Nothing, Pages, Room, Semaphore, Transfers };
  Kind kind = Kind::Nothing;
  uint32_t number = 0; // of the port or of the semaphore
  auto operator<=>(const Awaited &) const = default;
  /// Returns "pages of port 0", "room in port 16", "semaphore 1" or "transfers"; "" for nothing.
  std::string text() const;
};

/// A time in which a kernel did one thing.
struct KernelStep {
  double begin = 0, end = 0;
  Activity activity = Activity::Computes;
  Awaited awaited = {}; // where it waits
};

/// A named part of a kernel: DeviceZoneScopedN.
struct KernelZone {
  std::string name;
  double begin = 0, end = 0;
};

/// The times of a kernel on a core.
struct KernelTime {
  std::string name;
  CoreCoord core;
  double computing = 0, moving = 0, waiting = 0, end = 0;
  std::map<Awaited, double> waits = {}; // parts of `waiting`
  // If recording is on (runtime::setPerfRecording):
  std::vector<KernelStep> steps = {}; // in order, without gaps; neighbors are merged where there were too many
  std::vector<KernelZone> zones = {}; // in the order of their beginnings
};

/// Bytes that went over the link of the network from a core to its neighbor.
struct LinkLoad {
  CoreCoord from, to;
  int64_t bytes = 0;
};

/// The work of the cores of a chip while a program of kernels ran.
struct CoreActivity {
  uint32_t rows = 0, columns = 0;  // of the grid
  std::vector<KernelTime> kernels; // in the order of cores
  std::vector<LinkLoad> links;     // those that were used, if recording is on
  std::vector<int64_t> dramBytes;  // to and from each bank, likewise
};

} // namespace tt::metal
