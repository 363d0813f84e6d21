//===- fabric.h - what chips send to each other in an op --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Bytes and routes of the collectives. The clock counts them, and reports show
// them. docs/runtime.md, "The clock", says what is modelled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/kernel.h"

namespace tt::ttnn {

/// What one chip sends to another.
struct Send {
  /// Chips from the one that sends to the one that receives; each has a link to the next. The last chip of a row or
  /// column has one to the first, which closes a ring.
  std::vector<uint32_t> route;
  int64_t bytes = 0;
  int64_t hops() const { return static_cast<int64_t>(route.size()) - 1; }
};

/// The way from one chip to another: along the row first, then along the column, by the nearest way that does not leave
/// a mesh of so many columns.
std::vector<uint32_t> routeBetween(uint32_t from, uint32_t to, uint32_t columns);

/// Everything that is sent in an op on all chips of its mesh; of an op that sends nothing, nothing. Throws OpError
/// where the op names no chips of the mesh.
std::vector<Send> sendsOf(const OpCall &call);

/// What the clock counts of it: the bytes, times the hops of their routes, of the chip that sends most. Chips send at
/// the same time, and a chip one thing after the other.
int64_t fabricBytes(std::span<const Send> sends);

/// The cost of sends that are no ring's: the bytes, and the hops of the longest way.
Cost costOf(std::span<const Send> sends);
/// Adds what an op sends to its cost: the bytes, and the steps of a ring, both ways of which are used, or the hops of a
/// way of its own.
void addFabric(Cost &cost, const OpCall &call);

} // namespace tt::ttnn
