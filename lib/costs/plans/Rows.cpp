//===- Rows.cpp - plans of softmax, norms, reductions, elementwise ops ----===//
// SPDX-License-Identifier: Apache-2.0

#include "PlanRules.h"

namespace ttmlir::plan {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Two tiles of each operand and result; the vector unit reads f32 in the destination.
std::vector<Step> elementwisePlan(const Op &op) {
  static constexpr std::string_view names[] = {"", "UnaryDeviceOperation", "BinaryNgDeviceOperation",
                                               "TernaryDeviceOperation"};
  const auto operands = static_cast<size_t>(cost::present(op));
  Step step{names[std::min(operands, std::size(names) - 1)], "ProgramFactory"};
  const auto add = [&](const PlacedTensor &tensor, const Buffer &buffer) {
    if (!tensor.onDevice())
      return;
    step.buffers.push_back(buffer);
    step.buffers.back().isTensor = tensor.isShardInL1();
  };
  for (const auto &in : op.ins)
    if (in)
      add(*in, direct(2, formatOf(*in)));
  for (const PlacedTensor &out : op.outs)
    add(out, tiles(2, formatOf(out), out.isF32));
  if (operands == 1)
    step.arguments = {{"input_data_format", static_cast<int64_t>(formatOf(*op.in(0)))}};
  return {std::move(step)};
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Plans softmax on rows of tiles along the last dimension. Without maxima, rows are read by blocks; rows that do not
/// fit in L1 are streamed.
std::vector<Step> softmaxPlan(const Op &op, const Chip &chip) {
  const PlacedTensor &in = *op.in(0), &out = op.outs[0];
  const auto rank = static_cast<int64_t>(in.shape.size());
  if (const int64_t dim = number(op, "dimension", -1); rank < 1 || (dim != -1 && dim != rank - 1) || in.isShardInL1())
    return {};
  const Compute compute = *computeOf(op);
  const bool wide = compute.f32Destination, isStable = flag(op, "numericStable");
  const int64_t width = tilesAlong(in.columns), block = divisorUpTo(width, wide ? 4 : 8);
  // Maxima and exponentials have the operand's format, sums the destination's.
  const Format given = formatOf(in), kept = given == Format::Float32 ? given : Format::Float16B, sums = middle(wide);
  const auto stepOf = [&](int64_t row) {
    Step step{"SoftmaxDeviceOperation", "SoftmaxProgramFactoryAttentionOptimized", compute};
    auto &buffers = step.buffers;
    buffers = {tiles(isStable ? row : 2 * block, given, wide), tiles(2 * block, formatOf(out), wide),
               tiles(1, sums, wide), tiles(1, kept, wide)};
    if (isStable)
      buffers.push_back(tiles(1, sums, wide));
    buffers.insert(buffers.end(), {tiles(row, kept, wide), tiles(1, Format::Float16B, wide), tiles(1, kept, wide)});
    step.arguments = {{"in0_t", isStable ? row : 2 * block}};
    return step;
  };
  constexpr int64_t streamed = 80;
  Step step = stepOf(width);
  if (step.bytes() / 9 > chip.usable / 10)
    step = stepOf(streamed);
  return {std::move(step)};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// A row of tiles is kept whole if it fits in L1, else it is read again for each pass.
template <bool centred> std::vector<Step> normPlan(const Op &op, const Chip &chip) {
  const PlacedTensor &in = *op.in(0), &out = op.outs[0];
  if (in.isShardInL1())
    return {};
  const PlacedTensor *weight = op.in(1), *bias = op.in(2);
  const Compute compute = *computeOf(op);
  const bool wide = compute.f32Destination;
  const Format sums = middle(wide), scalar = Format::Float16B;
  const int64_t width = tilesAlong(in.columns), block = divisorUpTo(width, wide ? 4 : 8);
  const auto stepOf = [&](int64_t kept, bool isLarge) {
    Step step{"LayerNormDeviceOperation", "LayerNormMultiCoreProgramFactory", compute};
    auto &buffers = step.buffers;
    buffers = {tiles(kept, formatOf(in), wide), tiles(2 * block, formatOf(out), wide), tiles(2, sums, wide),
               tiles(2, scalar, wide), tiles(2, scalar, wide)};
    if (centred)
      buffers.insert(buffers.end(), {tiles(2, sums, wide), tiles(kept, sums, wide)});
    buffers.push_back(tiles(kept, sums, wide));
    buffers.push_back(tiles(8, sums, wide));
    if (weight || bias)
      buffers.push_back(tiles(2 * block, sums, wide));
    for (const PlacedTensor *parameter : {weight, bias})
      if (parameter)
        buffers.push_back(tiles(kept, formatOf(*parameter), wide));
    if (isLarge)
      buffers.push_back(direct(1, sums));
    step.arguments = {{"W", in.columns},
                      {"Wt", width},
                      {"block_size", block},
                      {"do_beta", bias != nullptr},
                      {"do_gamma", weight != nullptr},
                      {"float32_reduction", wide},
                      {"fp32_dest_acc_en", wide},
                      {"tile_width", cost::tileSide}};
    return step;
  };
  Step step = stepOf(width, false);
  if (step.bytes() > chip.usable)
    step = stepOf(weight || bias || wide ? 56 : 112, true);
  return {std::move(step)};
}
template std::vector<Step> normPlan<true>(const Op &op, const Chip &chip);
template std::vector<Step> normPlan<false>(const Op &op, const Chip &chip);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// A reduction's result has one element in each tile's row; without that dimension, it becomes rows of 32.
void addReshape(std::vector<Step> &steps, const PlacedTensor &in, const PlacedTensor &out, int64_t cores) {
  const Format format = formatOf(out);
  const bool isBlocks = format != Format::Float32 && format != Format::Float16B;
  const Format moved = isBlocks ? Format::Float16B : format;
  constexpr int64_t segmentBytes = 16;
  const auto add = [&](std::string_view operation, std::string_view factory, std::vector<Buffer> buffers,
                       std::vector<Argument> arguments) {
    Step &step = steps.emplace_back();
    step.operation = operation;
    step.factory = factory;
    step.buffers = std::move(buffers);
    step.arguments = std::move(arguments);
  };
  const auto cast = [&](Format from, Format to, int64_t tiles) {
    add("TypecastDeviceOperation", "TypecastProgramFactory", {direct(2, from), direct(2, to)},
        {{"in_data_format", static_cast<int64_t>(from)},
         {"out_data_format", static_cast<int64_t>(to)},
         {"per_core_block_cnt", divided(tiles, cores)},
         {"per_core_block_dim", 1}});
  };
  if (isBlocks)
    cast(format, moved, in.tiles / std::max<int64_t>(1, tilesAlong(in.columns)));
  add("ReshapeViewDeviceOperation", "ReshapeViewTiledProgramFactory",
      {{std::min(in.sizeFromEnd(1), cost::tileSide) * segmentBytes, Format::UInt16, Format::UInt16},
       direct(1, moved),
       direct(1, moved)},
      {});
  if (!isBlocks)
    return;
  add("FillPadDeviceOperation", "FillPadProgramFactory", {direct(2, moved), direct(1, moved), direct(2, moved)},
      {{"H_tiles", out.shape.size() > 1 ? tilesAlong(out.sizeFromEnd(1)) : 1},
       {"W_tiles", tilesAlong(out.sizeFromEnd(0))},
       {"elem_size", moved == Format::Float32 ? 4 : 2},
       {"fill_bits", 0}});
  cast(moved, format, out.tiles);
}

} // namespace

/// Along the last dimension or the one before it. A minimum is the negated maximum of negated tiles; in block formats,
/// the negated tiles have buffers.
std::vector<Step> reductionPlan(const Op &op, const Chip &chip) {
  const PlacedTensor &in = *op.in(0), &out = op.outs[0];
  const auto dims = numbers(op, "dim_arg");
  const auto rank = static_cast<int64_t>(in.shape.size());
  if (dims.size() != 1 || rank < 2 || !in.tiled || in.isShardInL1())
    return {};
  const int64_t dim = dims[0] < 0 ? dims[0] + rank : dims[0];
  if (dim < rank - 2)
    return {};
  const bool alongRows = dim == rank - 1;
  const Compute compute = *computeOf(op);
  const bool wide = compute.f32Destination;
  const Format given = formatOf(in), resultFormat = formatOf(out);
  const bool negates = op.name == "ttnn.min" && given == Format::BFP8B, isF32 = given == Format::Float32;
  Step step{"ReduceDeviceOperation", alongRows ? "ReduceMultiCoreWProgramFactory" : "ReduceMultiCoreHProgramFactory",
            compute};
  const int64_t width = tilesAlong(in.sizeFromEnd(0)), height = tilesAlong(in.sizeFromEnd(1));
  const int64_t read = negates ? (alongRows ? 2 : 4) : alongRows ? 2 * divisorUpTo(width, 4) : 2;
  const int64_t written = negates && !alongRows ? 4 : 2;
  step.buffers = {isF32 ? direct(read, given) : tiles(read, given, wide),
                  tiles(1, isF32 ? Format::Float32 : Format::Float16B, wide), tiles(written, resultFormat, wide)};
  if (negates)
    step.buffers.insert(step.buffers.end(), 2, tiles(alongRows ? 1 : 4, given, wide));
  step.arguments = {
      {"Ht", alongRows ? 1 : height}, {"NC", 1}, {"Wt", alongRows ? width : 1}, {"enable_fp32_sfpu", isF32}};
  std::vector<Step> steps;
  steps.push_back(std::move(step));
  if (alongRows && out.shape.size() < in.shape.size())
    addReshape(steps, in, out, chip.cores());
  return steps;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Chunks of queries, which are prefetched if a core has several; twice a chunk of keys, of values, of the mask and of
/// the result; scores; two partial results; maxima, sums and differences of rows.
std::vector<Step> attentionPlan(const Op &op, const Chip &chip) {
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2), *mask = op.in(3);
  if (!query || !key || !value || query->shape.size() != 4 || key->shape.size() != 4 || query->isShardInL1())
    return {};
  const auto chunkOf = [&](std::string_view name) {
    const int64_t chunk = number(op, name);
    return chunk > 0 ? chunk : cost::tileSide;
  };
  const int64_t queryChunk = chunkOf("program_config.q_chunk_size"), keyChunk = chunkOf("program_config.k_chunk_size");
  const int64_t rows = tilesAlong(queryChunk), columns = tilesAlong(keyChunk);
  const int64_t depth = tilesAlong(query->sizeFromEnd(0)), width = tilesAlong(value->sizeFromEnd(0));
  const bool isCausal = flag(op, "is_causal", true);
  const bool isPadded = query->shape[2] % queryChunk || key->shape[2] % keyChunk;
  // Cores are given to batches, then to heads, then to chunks; causal ones come in pairs.
  const int64_t left = chip.cores() / std::clamp<int64_t>(query->shape[0], 1, chip.cores()),
                sharing =
                    std::max<int64_t>(1, left / std::clamp<int64_t>(query->shape[1], 1, std::max<int64_t>(1, left)));
  const int64_t ahead = isCausal || divided(query->shape[2], queryChunk) > sharing ? 2 : 1;
  const Compute compute = *computeOf(op);
  const bool wide = compute.f32Destination;
  const Format kept = Format::Float16B, scores = middle(wide);
  Step step{"SDPAOperation", "SDPAProgramFactory", compute};
  step.buffers = {tiles(ahead * rows * depth, formatOf(*query), wide), tiles(2 * columns * depth, formatOf(*key), wide),
                  tiles(2 * columns * width, formatOf(*value), wide)};
  if (isCausal || mask || isPadded)
    step.buffers.push_back(tiles(2 * rows * columns, mask ? formatOf(*mask) : kept, wide));
  step.buffers.insert(step.buffers.end(), 3, tiles(1, kept, wide));
  step.buffers.push_back(tiles(rows * columns, scores, wide));
  step.buffers.insert(step.buffers.end(), 2, tiles(rows * width, kept, wide));
  step.buffers.insert(step.buffers.end(), 5, tiles(rows, kept, wide));
  if (op.in(4)) // a sink
    step.buffers.push_back(tiles(rows, formatOf(*op.in(4)), wide));
  step.buffers.push_back(tiles(2 * rows * width, formatOf(op.outs[0]), wide));
  return {std::move(step)};
}

} // namespace ttmlir::plan
