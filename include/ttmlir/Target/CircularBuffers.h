//===- CircularBuffers.h - circular buffers of the card's kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of a program of tt-metal keep in the L1 of a core while they
// run, by the rules of its program factories: of matmul (multicast), unary and
// binary elementwise ops, softmax, layer norm, and tilize. docs/runtime.md has
// them in words. Other families have no rule here and count nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_CIRCULARBUFFERS_H
#define TTMLIR_TARGET_CIRCULARBUFFERS_H

#include "ttmlir/Target/OpWork.h"

namespace ttmlir::cost {

/// What the rules ask of an op.
struct KernelFacts {
  std::string_view op; // "ttnn.matmul"
  std::span<const std::optional<Lying>> ins;
  std::span<const Lying> outs;
  bool elementwise = false;
  bool accumulatesF32 = false, readsF32 = false, numericStable = false;
  /// Of a multicast program config: tiles of the inner dimension, and of rows and columns of the result, that a core
  /// has at a time; 0 where there is none.
  int64_t inner = 0, rows = 0, columns = 0;

  const Lying *in(size_t index) const { return index < ins.size() && ins[index] ? &*ins[index] : nullptr; }
};

namespace circular {

inline constexpr int64_t bf16Tile = 2048, f32Tile = 4096;

/// So many tiles of a tensor; a shard in L1 is the buffer itself.
inline int64_t room(const Lying &tensor, int64_t tiles) {
  return tensor.onDevice() && !tensor.isShardInL1() ? tiles * tensor.tileBytes : 0;
}

/// Two tiles of each operand and result.
inline int64_t elementwise(const KernelFacts &op, int64_t) {
  int64_t bytes = 0;
  for (const auto &in : op.ins)
    bytes += in ? room(*in, 2) : 0;
  for (const Lying &out : op.outs)
    bytes += room(out, 2);
  return bytes;
}

/// Of a multicast program config; what the library chooses without one is not known.
inline int64_t product(const KernelFacts &op, int64_t) {
  const Lying *a = op.in(0), *b = op.in(1), *bias = op.in(2);
  if (!op.rows || !a || !b)
    return 0;
  const Lying &out = op.outs[0];
  const int64_t partialTile = op.accumulatesF32 ? f32Tile : std::max(bf16Tile, out.tileBytes);
  // Partial sums have the room of the result when they have its format.
  const int64_t results = room(out, op.rows * op.columns), partials = op.rows * op.columns * partialTile;
  return room(*a, 2 * op.inner * op.rows) + room(*b, 2 * op.inner * op.columns) +
         (partialTile == out.tileBytes ? std::max(results, partials) : results + partials) +
         (bias ? room(*bias, op.columns) : 0);
}

/// Over the last dimension of an interleaved tensor.
inline int64_t softmax(const KernelFacts &op, int64_t usable) {
  const Lying *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const int64_t width = tilesAlong(in->columns), im = op.accumulatesF32 ? f32Tile : bf16Tile;
  int64_t block = op.accumulatesF32 ? 4 : 8;
  while (width % block)
    --block;
  auto sum = [&](int64_t row) {
    int64_t bytes =
        room(*in, op.numericStable ? row : 2 * block) + room(op.outs[0], 2 * block) + row * im + im + bf16Tile;
    if (op.numericStable)
      bytes += im + row * im;
    return bytes;
  };
  const int64_t whole = sum(width);
  // Rows that are too long are streamed, 80 tiles at a time.
  return whole * 10 > usable * 9 ? sum(80) + 3 * im : whole;
}

inline int64_t norm(const KernelFacts &op, int64_t usable) {
  const Lying *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const int64_t im = op.accumulatesF32 ? f32Tile : bf16Tile, block = op.accumulatesF32 ? 4 : 8;
  const bool weighted = op.in(1);
  auto sum = [&](int64_t row) {
    int64_t bytes = room(*in, row) + room(op.outs[0], 2 * block) + 2 * row * im + 12 * im + 4 * bf16Tile;
    for (size_t i = 1; i < op.ins.size(); ++i)
      if (const Lying *given = op.in(i))
        bytes += room(*given, row);
    return bytes + (weighted ? 2 * block * im : 0);
  };
  const int64_t whole = sum((tilesAlong(in->columns) + block - 1) / block * block);
  return whole <= usable ? whole : sum(weighted || op.readsF32 ? 56 : 112);
}

/// A row of tiles in and out.
inline int64_t tilize(const KernelFacts &op, int64_t) {
  const Lying *in = op.in(0);
  if (!in || in->tiled || !op.outs[0].tiled || !in->onDevice())
    return 0;
  return room(*in, tilesAlong(in->columns)) + room(op.outs[0], tilesAlong(in->columns));
}

struct Rule {
  std::string_view op;
  int64_t (*bytes)(const KernelFacts &op, int64_t usable);
};
inline constexpr Rule rules[] = {
    {"ttnn.layer_norm", norm}, {"ttnn.linear", product},  {"ttnn.matmul", product},
    {"ttnn.rms_norm", norm},   {"ttnn.softmax", softmax}, {"ttnn.to_layout", tilize},
};

} // namespace circular

/// Bytes of each core, of which `usable` are there for tensors and circular buffers.
inline int64_t circularBytes(const KernelFacts &op, int64_t usable) {
  if (op.outs.empty() || !op.outs[0].onDevice())
    return 0;
  for (const circular::Rule &rule : circular::rules)
    if (rule.op == op.op)
      return rule.bytes(op, usable);
  return op.elementwise ? circular::elementwise(op, usable) : 0;
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_CIRCULARBUFFERS_H
