//===- Windows.h - what parts of a dimension need of others -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H
#define TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::stablehlo {

/// The way in which an op reads its operand along a dimension.
enum class WindowKind : uint8_t {
  Window,      // a result element is computed of a few that lie together: convolutions, reductions of windows
  Movement,    // nothing is computed, so that exchanging pays only where it is little: slices, pads
  Joint,       // a part of the result consists of runs of elements of any parts of any operand: concatenations
  Mirror,      // the part of a device is that of the one as far from the other end, turned around: reverse
  Contraction, // elements of operand 1 meet a few of operand 0 that lie together, and all are summed up: the gradient
               // of a convolution's kernel
};

/// A dimension along which devices obtain missing elements by exchanging them with others.
struct WindowedDim {
  int64_t operand, result; // of operand 0 (of all inputs), of results; of a contraction: of operand 1
  /// Result element i is computed from `extent` positions from i * stride - low on. Every `dilation`-th position is an
  /// element of the operand; those between and outside are padding. In a contraction, they meet element i of operand 1.
  int64_t stride = 1, low = 0, extent = 1, dilation = 1;
  WindowKind kind = WindowKind::Window;
};
/// Returns the windowed dimensions of an op; none for an op that reads single elements only.
SmallVector<WindowedDim, 2> getWindowedDims(Operation *op);
/// The number of leading operands with these dimensions: several for a reduction with several inputs, one for other
/// ops, none for ops without windows, all for a concatenation.
unsigned getNumWindowedOperands(Operation *op);

/// Elements that one of several equal parts of a result takes from parts of the operands.
struct Segment {
  /// Some parts of the result take their elements from position `first` on of a part of this operand.
  struct Move {
    unsigned operand;
    int64_t first;
    SmallVector<std::pair<int64_t, int64_t>> parts; // from the operand's to the result's: each part at most once

    /// Each device takes the elements from what it holds.
    bool isLocal() const {
      return llvm::all_of(parts, [](auto pair) { return pair.first == pair.second; });
    }
  };
  int64_t size;
  SmallVector<Move> moves;
};

/// The part of the operand that one of several equal parts of a result needs.
struct Footprint {
  SmallVector<int64_t> starts; // by part: the first element, which may be outside of the operand
  int64_t size;                // elements
  int64_t low, high;           // padding that the op still adds to them
  /// The most that a part needs of the previous part and of the next one; below 0 if it needs less than it holds.
  int64_t before, after;
  /// If these are given, a part is what they are one after another, in place of all the above but the size.
  SmallVector<Segment> segments = {};
};
/// Returns the footprint of a part. Returns none if the sizes of the dimension, of operand and result, do not divide,
/// if parts would need more than their neighbors hold, or if gathering is cheaper. A mirrored part needs only what it
/// receives.
std::optional<Footprint> getFootprint(Operation *op, const WindowedDim &dim, int64_t parts);

/// Whether windows follow one another from the first element to the last, so that each element is in one of them, or in
/// a gap before the next one.
bool isCutByWindows(SelectAndScatterOp op, int64_t dim);

/// The type of a factor along which an op reads neighbors; `dim` belongs to operand 0.
::ttmlir::shapes::FactorType windowFactor(Operation *op, int64_t dim, ::ttmlir::shapes::FactorMode mode);

/// Whether two devices could compute the op along this dimension of its operand by exchanging edges.
bool mayExchangeEdges(Operation *op, int64_t operandDim);

} // namespace mlir::stablehlo

#endif // TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H
