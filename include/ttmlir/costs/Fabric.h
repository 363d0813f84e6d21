//===- Fabric.h - what chips send to each other -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The bytes, steps and hops of collectives: of an op by its cost rule, of a resharding step by its sizes.
// docs/cost-model.md describes them in words.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_COSTS_FABRIC_H
#define TTMLIR_COSTS_FABRIC_H

#include "ttmlir/costs/Costs.h"

#include <vector>

namespace ttmlir::cost {

//===----------------------------------------------------------------------===//
// Work by sizes
//===----------------------------------------------------------------------===//

/// The data that circulates on a ring of chips. Every chip has `bytes` of an operand.
enum class Ring : uint8_t {
  Gather,  // each chip gets the operands of all
  Scatter, // each chip gets its part of the sum
  Reduce,  // each chip gets the sum: its parts are scattered, and gathered again
};

/// Returns the total bytes that each chip of a ring of `chips` sends to the next one.
int64_t ringBytes(Ring ring, int64_t bytes, int64_t chips);
/// Returns the number of sequential steps of a ring. Both directions are used.
int64_t ringSteps(Ring ring, int64_t chips);
/// Adds what one chip of a ring sends.
void addRing(Work &work, Ring ring, int64_t bytes, int64_t chips);

/// Returns bytes times hops of the chip at the end of a line of `chips` that sends `part` bytes to every other chip.
int64_t lineBytes(int64_t part, int64_t chips);
/// Adds the sends of a chip on dedicated routes: bytes times hops, and the hops of the longest route.
void addWays(Work &work, int64_t bytesTimesHops, int64_t hops);

//===----------------------------------------------------------------------===//
// Sends of an op
//===----------------------------------------------------------------------===//

/// A transfer from one chip of a mesh to another. Chips are numbered row by row.
struct Send {
  int64_t from = 0, to = 0, bytes = 0, hops = 1;
};

/// All sends of an op on the chips of its mesh.
struct Sends {
  std::vector<Send> all;
  int64_t ringSteps = 0; // 0: each send takes a way of its own
};

/// Returns the hops between two chips of a mesh with this many columns: along the row, then along the column.
int64_t hopsBetween(int64_t from, int64_t to, int64_t columns);
/// Returns the sends of an op: nothing for ops without such a rule, and for chips that the mesh lacks.
Sends sendsOf(const Rule &rule, const Op &op);
/// Adds the sends of the chip that sends most. Chips send at the same time, and each chip sends one thing after the
/// other.
void addSends(Work &work, const Sends &sends);

} // namespace ttmlir::cost

#endif // TTMLIR_COSTS_FABRIC_H
