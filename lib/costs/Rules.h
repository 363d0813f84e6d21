//===- Rules.h - what the cost rules share ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A rule trusts nothing in its input: it counts what it can read.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_COSTS_RULES_H
#define TTMLIR_LIB_COSTS_RULES_H

#include "ttmlir/costs/Fabric.h"

namespace ttmlir::cost {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// An integer; `absent` if the op has none of that name.
int64_t number(const Op &op, std::string_view name, int64_t absent = 0);
bool flag(const Op &op, std::string_view name, bool absent = false);
/// A list of integers, or one of a single integer.
::tt::shapes::Sizes numbers(const Op &op, std::string_view name);
/// "" if there is none. The op owns the text.
std::string_view text(const Op &op, std::string_view name);
/// Whether partial results have 32 bits: by the compute config, else by the result.
bool accumulatesF32(const Op &op);

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Counts the operands that are not absent.
int64_t present(const Op &op);
/// A transfer: to or from a memory, over the network.
void addTransfer(Work &work, const PlacedTensor &tensor);
/// Reading operands and writing results. A core writes its own shard, and reads the same part of an operand's shards in
/// place; `moves`: ops that move values to other positions read everything over the network.
void addTraffic(Work &work, std::span<const std::optional<PlacedTensor>> ins, std::span<const PlacedTensor> outs,
                bool moves);
inline void addTraffic(Work &work, const Op &op, bool moves) { addTraffic(work, op.ins, op.outs, moves); }
/// A pass of the vector unit over a result.
void addVectorPass(Work &work, std::string_view op, const PlacedTensor &result);
/// Passes over all results.
void vectorPasses(const Op &op, Work &work);
/// Returns the cores that compute a result.
int64_t busyCores(const PlacedTensor &result);
/// Adds the activation that a product or a convolution applies before it packs its result: the packer computes relu.
void addActivation(const Op &op, Work &work);
/// Steps over rows of `operand`, each on one core unless it is sharded: passes of the matrix unit, and the exponentials
/// of a softmax.
void addRows(Work &work, const PlacedTensor &operand, int64_t passes);

/// Cycles of a tile of exponentials in the vector unit.
inline constexpr int64_t exponentialCycles = 640;
inline constexpr int64_t bf16Tile = 2048, f32Tile = 4096;

/// Tile products of matrices of tensors.
inline int64_t productTiles(int64_t batches, int64_t m, int64_t k, int64_t n) {
  return batches * tilesAlong(m) * tilesAlong(k) * tilesAlong(n);
}
inline int64_t divided(int64_t size, int64_t parts) { return (size + parts - 1) / parts; }

/// Returns the bytes of `tiles` tiles of a tensor in a circular buffer; 0 for a shard in L1, which is the buffer
/// itself.
inline int64_t room(const PlacedTensor &tensor, int64_t tiles) {
  return tensor.onDevice() && !tensor.isShardInL1() ? tiles * tensor.tileBytes : 0;
}

// The transfers of collectives: from each chip to the next one of a ring, or to those that an attribute names.
void gatherSends(const Op &op, Sends &sends);
void scatterSends(const Op &op, Sends &sends);
void reduceSends(const Op &op, Sends &sends);
/// Sends tiles of the sums of rows.
void statisticsSends(const Op &op, Sends &sends);
/// Sends every token to every device, which is the maximum: the devices that need a token are known at run time.
void dispatchSends(const Op &op, Sends &sends);
/// An equal part of the result from each device, by the shorter route.
void combineSends(const Op &op, Sends &sends);
void pointSends(const Op &op, Sends &sends);
void permuteSends(const Op &op, Sends &sends);
/// An equal part from each chip of a group to each other one.
void exchangeSends(const Op &op, Sends &sends);

// The rows of each family.
std::span<const Rule> attentionRules();
std::span<const Rule> collectiveRules();
std::span<const Rule> computeRules();
std::span<const Rule> dataMovementRules();
std::span<const Rule> debugRules();
std::span<const Rule> normalizationRules();
std::span<const Rule> routingRules();
std::span<const Rule> trainingRules();
std::span<const Rule> windowRules();

} // namespace ttmlir::cost

#endif // TTMLIR_LIB_COSTS_RULES_H
