//===- activity.cpp - what cores did, of the recordings of kernels --------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/report.h"
#include "tt/metal/kernel_api.h"
#include "tt/sim/clock.h"
#include "ttmlir/costs/CostModel.h"

#include <array>
#include <cmath>
#include <memory>
#include <set>

namespace tt::metal {

std::string Awaited::text() const {
  const std::string name = std::to_string(number);
  switch (kind) {
  case Kind::Nothing:
    return "";
  case Kind::Pages:
    return "pages of port " + name;
  case Kind::Room:
    return "room in port " + name;
  case Kind::Semaphore:
    return "semaphore " + name;
  case Kind::Transfers:
    return "transfers";
  }
  return "";
}

namespace {

enum Direction : size_t { East, West, South, North, Directions };

/// The links of a chip, by the core that sends and the direction.
class Links {
public:
  explicit Links(const sim::ChipDesc &chip)
      : rows(static_cast<size_t>(chip.gridRows)), columns(static_cast<size_t>(chip.gridColumns)),
        bytes(rows * columns) {}

  void add(size_t from, size_t to, int64_t count) {
    forEachLink(from, to, [&](size_t core, Direction direction) { bytes[core][direction] += count; });
  }
  /// A multicast: routers on the way copy what goes to several receivers.
  void add(size_t from, std::span<const size_t> receivers, int64_t count) {
    std::set<std::pair<size_t, Direction>> used;
    for (const size_t to : receivers)
      forEachLink(from, to, [&](size_t core, Direction direction) { used.emplace(core, direction); });
    for (const auto &[core, direction] : used)
      bytes[core][direction] += count;
  }
  std::vector<LinkLoad> used() const {
    std::vector<LinkLoad> result;
    for (size_t core = 0; core < bytes.size(); ++core)
      for (size_t direction = 0; direction < Directions; ++direction)
        if (bytes[core][direction])
          result.push_back(
              {coordOf(core), coordOf(next(core, static_cast<Direction>(direction))), bytes[core][direction]});
    return result;
  }

private:
  CoreCoord coordOf(size_t core) const {
    return {static_cast<uint32_t>(core % columns), static_cast<uint32_t>(core / columns)};
  }
  size_t next(size_t core, Direction direction) const {
    switch (direction) {
    case East:
      return core + 1;
    case West:
      return core - 1;
    case South:
      return core + columns;
    default:
      return core - columns;
    }
  }
  /// The way that the clock counts: along the row, then along the column.
  template <class F> void forEachLink(size_t from, size_t to, F f) const {
    const auto go = [&](Direction direction) {
      f(from, direction);
      from = next(from, direction);
    };
    while (from % columns != to % columns)
      go(from % columns < to % columns ? East : West);
    while (from != to)
      go(from < to ? South : North);
  }

  const size_t rows, columns;
  std::vector<std::array<int64_t, Directions>> bytes;
};

uint64_t coordinate(uint64_t address, uint32_t number) {
  constexpr uint64_t mask = (uint64_t(1) << noc_coordinate_bits) - 1;
  return address >> (noc_address_bits + number * noc_coordinate_bits) & mask;
}

} // namespace

void KernelRun::beginZone(std::string_view name) {
  if (!recording)
    return;
  settleClock();
  recording->open.push_back(recording->zones.size());
  if (recording->zones.size() < Recording::mostZones)
    recording->zones.push_back({std::string(name), clock.now, clock.now});
}

void KernelRun::endZone() {
  if (!recording || recording->open.empty())
    return;
  settleClock();
  if (const size_t at = recording->open.back(); at < recording->zones.size())
    recording->zones[at].end = clock.now;
  recording->open.pop_back();
}

KernelReport reportOf(const sim::ChipDesc &chip, ProgramWork work) {
  KernelReport report;
  report.cycles = work.cycles;
  report.deviceNs = static_cast<double>(work.cycles) / chip.speed.clockGHz + chip.speed.launchNs;
  report.bound = work.bound;
  report.matmulTiles = work.total.matmulTiles;
  report.fpuTiles = work.total.fpuTiles;
  report.sfpuTiles = work.total.sfpuTiles;
  report.movedBytes = work.total.movedBytes;
  report.fabricBytes = work.total.fabricBytes;
  report.fabricHops = work.total.fabricHops;
  report.roundedOnly.assign(work.roundedOnly.begin(), work.roundedOnly.end());
  report.activity = std::move(work.activity);
  return report;
}

void takeReport(KernelReport report, const sim::ChipDesc &chip, runtime::OpPerf &perf) {
  perf.deviceNs = report.deviceNs;
  perf.cycles = static_cast<int64_t>(std::ceil(perf.deviceNs * chip.speed.clockGHz));
  perf.uncertaintyNs = perf.deviceNs * ttmlir::cost::rowOf(perf.cost.kind).uncertainty;
  perf.bound = chip.speed.launchNs > perf.deviceNs / 2 ? sim::Bound::Dispatch : report.bound;
  perf.cost.launched = true;
  perf.cost.matmulTiles = report.matmulTiles;
  perf.cost.fpuTiles = report.fpuTiles;
  perf.cost.sfpuTiles = report.sfpuTiles;
  perf.cost.l1Bytes = report.movedBytes;
  perf.cost.fabricBytes = report.fabricBytes;
  perf.cost.fabricHops = report.fabricHops;
  if (runtime::perfRecording())
    perf.activity = std::make_shared<const CoreActivity>(std::move(report.activity));
}

CoreActivity activityOf(const sim::ChipDesc &chip, std::span<const std::unique_ptr<Core>> cores, bool recorded) {
  const auto columns = static_cast<uint32_t>(chip.gridColumns);
  CoreActivity result{
      .rows = static_cast<uint32_t>(chip.gridRows), .columns = columns, .kernels = {}, .links = {}, .dramBytes = {}};
  Links links(chip);
  if (recorded)
    result.dramBytes.resize(static_cast<size_t>(chip.dramChannels));
  for (const auto &core : cores)
    for (const auto &run : core->kernels) {
      KernelTime &time = result.kernels.emplace_back();
      time.name = run->kernel.symbol;
      time.core = {core->index % columns, core->index / columns};
      time.computing = run->clock.computing;
      time.moving = run->clock.moving;
      time.waiting = run->clock.waiting;
      time.end = run->clock.now;
      time.waits = run->clock.waits;
      if (!run->recording)
        continue;
      time.steps = run->recording->log.take();
      time.zones = std::move(run->recording->zones);
      for (const auto &[flow, bytes] : run->recording->flows) {
        const auto &[address, kind] = flow;
        const uint64_t x = coordinate(address, 0), y = coordinate(address, 1);
        if (address & noc_dram_bit) {
          result.dramBytes[x] += bytes;
          continue;
        }
        if (kind == TransferKind::Multicast) {
          std::vector<size_t> receivers;
          for (uint64_t row = coordinate(address, 3); row <= y; ++row)
            for (uint64_t column = coordinate(address, 2); column <= x; ++column)
              receivers.push_back(row * columns + column);
          links.add(core->index, receivers, bytes);
        } else if (kind == TransferKind::Read) {
          links.add(y * columns + x, core->index, bytes);
        } else {
          links.add(core->index, y * columns + x, bytes);
        }
      }
    }
  result.links = links.used();
  return result;
}

} // namespace tt::metal
