//===- Product.cpp - plans of products ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "PlanRules.h"

namespace ttmlir::plan {
namespace {

constexpr std::string_view oneDimensional = "MatmulMultiCoreReuseMcast1DProgramFactory",
                           twoDimensional = "MatmulMultiCoreReuseMcast2DProgramFactory",
                           withoutMulticast = "MatmulMultiCoreReuseOptimizedProgramFactory";
constexpr std::string_view config = "matmul_program_config";

bool isBlockFormat(Format format) {
  return format == Format::BFP8B || format == Format::BFP4B || format == Format::BFP2B;
}

bool isGiven(const Op &op) { return op.attribute(config).kind != ::tt::shapes::Attribute::Kind::Absent; }

/// No more tiles of any format than this fit in L1.
int64_t mostTiles(int64_t usable) { return std::max<int64_t>(1, usable / tileBytes(Format::BFP2B)); }

/// Uses all of a core's part of the result at a time if the buffers then fit in L1, else the largest block of it that
/// does; and as many tiles of K as fit. Result and partial sums are counted separately.
void fit(Blocks &blocks, Format a, Format b, Format out, const Compute &compute, int64_t biasTile, int64_t usable,
         bool shrinksK) {
  const int64_t resultTile = tileBytes(out) + tileBytes(partialsOf(compute, out, 2));
  const auto fits = [&](int64_t h, int64_t w, int64_t inner) {
    return 2 * inner * (h * tileBytes(a) + w * tileBytes(b)) + h * w * resultTile + w * biasTile < usable;
  };
  struct Choice {
    int64_t h, w, inner;
  };
  std::optional<Choice> best;
  const auto areaOf = [](const Choice &choice) { return choice.h * choice.w; };
  const int64_t most = mostTiles(usable);
  for (int64_t h = std::min(blocks.perCoreM, most); h > 0; --h)
    for (int64_t w = 1; w <= std::min(blocks.perCoreN, most / h); ++w) {
      if (blocks.perCoreM % h || blocks.perCoreN % w)
        continue;
      int64_t inner = shrinksK ? std::min(blocks.in0BlockW, most) : blocks.in0BlockW;
      while (inner > 1 && shrinksK && (blocks.in0BlockW % inner || !fits(h, w, inner)))
        --inner;
      const Choice choice{h, w, inner};
      // Among blocks of the same size, the wider one.
      if (fits(h, w, inner) && (!best || areaOf(choice) >= areaOf(*best)))
        best = choice;
    }
  const Choice chosen = best.value_or(Choice{1, 1, shrinksK ? 1 : blocks.in0BlockW});
  blocks.outBlockH = chosen.h;
  blocks.outBlockW = chosen.w;
  blocks.in0BlockW = chosen.inner;
}

Blocks givenBlocks(const Op &op, const Product &product) {
  const auto field = [&](std::string_view name, int64_t absent) {
    const int64_t value = number(op, std::string(config) + "." + std::string(name), absent);
    return value > 0 ? value : absent;
  };
  Blocks blocks;
  blocks.in0BlockW = field("in0_block_w", std::max<int64_t>(1, tilesAlong(product.k)));
  blocks.perCoreM = field("per_core_m", 1);
  blocks.perCoreN = field("per_core_n", 1);
  blocks.outBlockH = std::min(field("out_block_h", blocks.perCoreM), blocks.perCoreM);
  blocks.outBlockW = std::min(field("out_block_w", blocks.perCoreN), blocks.perCoreN);
  blocks.outSubblockH = field("out_subblock_h", 1);
  blocks.outSubblockW = field("out_subblock_w", 1);
  return blocks;
}

std::string_view factoryOf(const Op &op) {
  const auto has = [&](std::string_view name) {
    return op.attribute(name).kind != ::tt::shapes::Attribute::Kind::Absent;
  };
  return has("matmul_program_config.mcast_in0")         ? oneDimensional
         : has("matmul_program_config.transpose_mcast") ? twoDimensional
                                                        : withoutMulticast;
}

struct Chosen {
  Blocks blocks;
  std::string_view factory;
};

std::optional<Chosen> chosenOf(const Op &op, const Compute &compute, const Chip &chip) {
  const std::optional<Product> product = productOf(op);
  if (!product)
    return std::nullopt;
  const PlacedTensor &a = *op.in(0), &b = *op.in(1);
  const Format out = formatOf(op.outs[0]);
  Chosen chosen;
  if (isGiven(op)) {
    chosen = {givenBlocks(op, *product), factoryOf(op)};
    chosen.blocks.batches = product->batches;
    chosen.blocks.count = divided(tilesAlong(product->k), chosen.blocks.in0BlockW);
    chosen.blocks.partials = partialsOf(compute, out, chosen.blocks.count);
    return chosen;
  }
  if (a.isShardInL1() || b.isShardInL1() || op.outs[0].isShardInL1())
    return std::nullopt;
  bool isOneDimensional = false;
  chosen.blocks = chosenBlocks(*product, formatOf(a), formatOf(b), out, compute, op.in(2) ? op.in(2)->tileBytes : 0,
                               chip, isOneDimensional);
  chosen.factory = isOneDimensional ? oneDimensional : twoDimensional;
  return chosen;
}

} // namespace

Format partialsOf(const Compute &compute, Format out, int64_t blocks) {
  return compute.f32Destination ? Format::Float32 : compute.addsInL1 && blocks > 1 ? Format::Float16B : out;
}

void chooseSubblock(Blocks &blocks, bool f32Destination) {
  static constexpr int64_t shapes[][2] = {{4, 2}, {2, 4}, {8, 1}, {1, 8}, {7, 1}, {1, 7}, {3, 2},
                                          {2, 3}, {6, 1}, {1, 6}, {5, 1}, {1, 5}, {2, 2}, {4, 1},
                                          {1, 4}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}};
  for (const auto &[height, width] : shapes)
    if (height * width <= (f32Destination ? 4 : 8) && blocks.outBlockH % height == 0 && blocks.outBlockW % width == 0) {
      blocks.outSubblockH = height;
      blocks.outSubblockW = width;
      return;
    }
}

/// The result is cut among rows and columns of cores, and K into as many blocks as there are columns, or into tiles.
/// Matrices of one row or column of tiles, and narrow ones, are cut along one dimension among all cores, and K into
/// pairs of tiles.
Blocks chosenBlocks(const Product &product, Format a, Format b, Format out, const Compute &compute, int64_t biasTile,
                    const Chip &chip, bool &isOneDimensional) {
  constexpr int64_t narrow = 8; // times as long as wide
  const int64_t m = tilesAlong(product.m), k = std::max<int64_t>(1, tilesAlong(product.k)), n = tilesAlong(product.n);
  const int64_t shortSide = std::min(m, n), longSide = std::max(m, n);
  isOneDimensional = shortSide <= 1 || longSide > narrow * shortSide;
  Blocks blocks;
  blocks.batches = product.batches;
  if (isOneDimensional) {
    const bool isWide = n >= m;
    blocks.perCoreM = isWide ? m : divided(m, chip.cores());
    blocks.perCoreN = isWide ? divided(n, chip.cores()) : n;
    blocks.in0BlockW = k % 2 == 0 ? 2 : 1;
  } else {
    blocks.perCoreM = divided(m, chip.gridRows);
    blocks.perCoreN = divided(n, chip.gridColumns);
    blocks.in0BlockW = k % chip.gridColumns ? 1 : k / chip.gridColumns;
  }
  fit(blocks, a, b, out, compute, biasTile, chip.usable, !isOneDimensional);
  blocks.count = k / blocks.in0BlockW;
  blocks.partials = partialsOf(compute, out, blocks.count);
  chooseSubblock(blocks, compute.f32Destination);
  return blocks;
}

std::optional<Product> productOf(const Op &op) {
  const PlacedTensor *a = op.in(0), *b = op.in(1);
  if (!a || !b || op.outs.empty())
    return std::nullopt;
  const bool isRow = a->shape.size() == 1, isColumn = b->shape.size() == 1;
  const bool transposesA = !isRow && flag(op, "transpose_a"), transposesB = !isColumn && flag(op, "transpose_b");
  Product product;
  product.m = isRow ? 1 : a->sizeFromEnd(transposesA ? 0 : 1);
  product.k = a->sizeFromEnd(transposesA ? 1 : 0);
  product.n = isColumn ? 1 : b->sizeFromEnd(transposesB ? 1 : 0);
  if (product.m <= 0 || product.n <= 0)
    return std::nullopt;
  product.batches = op.outs[0].elements() / product.m / product.n;
  return product;
}

Compute productCompute(const Op &op) {
  const PlacedTensor *a = op.in(0), *b = op.in(1);
  Compute unset;
  if (!a || !b || op.outs.empty())
    return computeOf(op, unset);
  const bool areF32 = a->isF32 && b->isF32;
  const bool areBlocks = isBlockFormat(formatOf(*a)) && isBlockFormat(formatOf(*b));
  unset.phases = areF32 ? 3 : areBlocks || isGiven(op) ? 1 : 2;
  unset.f32Destination = op.outs[0].isF32;
  unset.addsInL1 = !unset.f32Destination;
  Compute found = computeOf(op, unset);
  if (op.attribute("compute_config.packer_l1_acc").kind == ::tt::shapes::Attribute::Kind::Absent)
    found.addsInL1 = !found.f32Destination;
  return found;
}

std::optional<Blocks> blocksOf(const Op &op, const Compute &compute, const Chip &chip) {
  const std::optional<Chosen> chosen = chosenOf(op, compute, chip);
  return chosen ? std::optional(chosen->blocks) : std::nullopt;
}

/// Two blocks of each operand if there are more than one; the result and, if they have another format, partial sums; a
/// row of bias.
Step productStep(const Blocks &blocks, Format a, Format b, Format out, const Compute &compute,
                 std::optional<Format> bias) {
  const bool wide = compute.f32Destination;
  const int64_t times = blocks.batches * blocks.count > 1 ? 2 : 1, results = blocks.outBlockH * blocks.outBlockW;
  Step step{"MatmulDeviceOperation"};
  step.compute = compute;
  step.blocks = blocks;
  step.buffers = {tiles(times * blocks.outBlockH * blocks.in0BlockW, a, wide),
                  tiles(times * blocks.outBlockW * blocks.in0BlockW, b, wide), tiles(results, out, wide)};
  // Partial sums of f32 return to the destination unchanged.
  step.buffers.push_back(direct(results, blocks.partials));
  step.buffers.back().sharesPrevious = blocks.partials == out;
  if (bias) {
    step.buffers.push_back(tiles(blocks.outBlockW, *bias, wide));
    step.arguments = {{"row_broadcast_bias", 1}};
  }
  return step;
}

std::vector<Step> productPlan(const Op &op, const Chip &chip) {
  const Compute compute = productCompute(op);
  const std::optional<Chosen> chosen = chosenOf(op, compute, chip);
  if (!chosen)
    return {};
  const PlacedTensor &a = *op.in(0), &b = *op.in(1), &out = op.outs[0];
  Step step = productStep(chosen->blocks, formatOf(a), formatOf(b), formatOf(out), compute,
                          op.in(2) ? std::optional(formatOf(*op.in(2))) : std::nullopt);
  step.factory = chosen->factory;
  step.buffers[0].isTensor = a.isShardInL1();
  step.buffers[1].isTensor = b.isShardInL1();
  step.buffers[2].isTensor = out.isShardInL1();
  return {std::move(step)};
}

} // namespace ttmlir::plan
