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

/// A transfer from one chip to another.
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

/// Returns the cost of an op's sends: those of the chip that sends most (ttmlir/costs/Fabric.h). Throws OpError where
/// the op names no chips of the mesh.
Cost fabricCostOf(const OpCall &call);
/// Returns the cost of sends on separate links.
Cost costOf(std::span<const Send> sends);

} // namespace tt::ttnn
