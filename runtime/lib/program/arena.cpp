//===- arena.cpp - memory for intermediate values --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "base/touch.h"
#include "program/executable.h"
#include "tt/sim/host.h"

#include <algorithm>

namespace tt::runtime {

Arena Arena::of(const Plan &plan, const Arena *shared) {
  constexpr const char *purpose = "the intermediate values of a program";
  // A program that is not to be run may be larger than the host.
  if (plan.mode == Mode::Estimated)
    return {};
  if (plan.image.boundOf.expired())
    return {sim::allocateHostOnce(plan.arenaBytes, purpose), plan.arenaBytes};
  // Plans for changing sizes come and go.
  if (!shared)
    return {sim::allocateHost(plan.arenaBytes, purpose), plan.arenaBytes};
  constexpr size_t growth = 8, leastRoom = size_t(8) << 20, mostRoom = size_t(32) << 20; // beyond what is needed
  constexpr size_t mostIdle = 4, few = mostRoom + (size_t(2) << 20);
  // Of the memory for a far larger size, most would be unused.
  if (shared->memory && plan.arenaBytes <= shared->bytes && shared->bytes <= mostIdle * plan.arenaBytes + few)
    return *shared;
  // Larger sizes find space, and the first size uses mapped pages: fresh ones cost more than most runs.
  const size_t room = std::clamp((growth - 1) * plan.arenaBytes, leastRoom, mostRoom);
  const size_t bytes = alignUp(plan.arenaBytes + room);
  if (bytes > sim::hostMemoryLimit() / 2)
    return {sim::allocateHost(plan.arenaBytes, purpose), plan.arenaBytes};
  Arena arena{sim::allocateHost(bytes, purpose), bytes};
  if (!shared->memory)
    touchPages(arena.memory.get(), bytes);
  return arena;
}

} // namespace tt::runtime
