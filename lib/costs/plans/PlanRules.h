//===- PlanRules.h - what the rules of plans share --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_COSTS_PLANS_PLANRULES_H
#define TTMLIR_LIB_COSTS_PLANS_PLANRULES_H

#include "../Rules.h"
#include "ttmlir/costs/Plans.h"

namespace ttmlir::plan {

using cost::divided, cost::flag, cost::number, cost::numbers, cost::Op, cost::PlacedTensor, cost::Shards,
    cost::tilesAlong;

Format formatOf(const PlacedTensor &tensor);
int64_t tileBytes(Format format);
/// Returns the format of a source register after the unpacker.
Format unpacked(Format format, bool f32Destination);
/// Returns a buffer of `count` tiles of a format; f32 goes through source registers.
Buffer tiles(int64_t count, Format format, bool f32Destination);
/// Unpacked to the destination, where the vector unit reads it.
Buffer direct(int64_t count, Format format);

inline Format middle(bool f32Destination) { return f32Destination ? Format::Float32 : Format::Float16B; }
inline int64_t rounded(int64_t value, int64_t unit) { return divided(value, unit) * unit; }
/// The largest divisor up to `most`.
int64_t divisorUpTo(int64_t value, int64_t most);

/// `unset`, if the op's config does not state it.
Compute computeOf(const Op &op, Compute unset);
/// The library's config of a product.
Compute productCompute(const Op &op);

/// A product of matrices that are not sharded.
struct Product {
  int64_t batches = 1, m = 1, k = 1, n = 1; // in elements
};
std::optional<Product> productOf(const Op &op);
Blocks chosenBlocks(const Product &product, Format a, Format b, Format out, const Compute &compute, int64_t biasTile,
                    const Chip &chip, bool &isOneDimensional);
/// Partial sums: in the width in which the packer adds them, or in that of the destination.
Format partialsOf(const Compute &compute, Format out, int64_t blocks);
/// The first one that divides a block of the result and fits in the destination: eight tiles, or four of f32.
void chooseSubblock(Blocks &blocks, bool f32Destination);
Step productStep(const Blocks &blocks, Format a, Format b, Format out, const Compute &compute,
                 std::optional<Format> bias);

// Plans of each family.
std::vector<Step> productPlan(const Op &op, const Chip &chip);
std::vector<Step> elementwisePlan(const Op &op);
std::vector<Step> softmaxPlan(const Op &op, const Chip &chip);
template <bool centred> std::vector<Step> normPlan(const Op &op, const Chip &chip);
std::vector<Step> reductionPlan(const Op &op, const Chip &chip);
std::vector<Step> attentionPlan(const Op &op, const Chip &chip);
/// `counts` the runs of pixels that move between cores, in as many steps as images have rows. Otherwise their lists are
/// empty.
template <bool counts> std::vector<Step> convolutionPlan(const Op &op, const Chip &chip);
template <bool counts> std::vector<Step> poolPlan(const Op &op, const Chip &chip);

/// The same plan, quickly, for callers that only need its circular buffers: without the lists that tensors hold.
std::vector<Step> briefPlanOf(const Op &op, const Chip &chip);

} // namespace ttmlir::plan

#endif // TTMLIR_LIB_COSTS_PLANS_PLANRULES_H
