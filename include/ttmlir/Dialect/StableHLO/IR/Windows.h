//===- Windows.h - what parts of a dimension need of others -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H
#define TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::stablehlo {

/// How an op reads its operand along a dimension.
enum class WindowKind : uint8_t {
  Window,      // a result element is computed of a few that lie together: convolutions, reductions of windows
  Movement,    // nothing is computed, so that exchanging pays only where it is little: slices, pads
  Mirror,      // the part of a device is that of the one as far from the other end, turned around: reverse
  Contraction, // elements of operand 1 meet a few of operand 0 that lie together, and all are summed up: the gradient
               // of a convolution's kernel
};

/// A dimension along which devices come by what they lack by exchanging with others.
struct WindowedDim {
  int64_t operand, result; // of operand 0 (of all inputs), of results; of a contraction: of operand 1
  /// Result element i is computed of `extent` places from i * stride - low on; every `dilation`-th place is an element
  /// of the operand, those between and outside of it are padding. Of a contraction: element i of operand 1 meets them.
  int64_t stride = 1, low = 0, extent = 1, dilation = 1;
  WindowKind kind = WindowKind::Window;
};
/// Returns the windowed dimensions of an op; none for an op that reads single elements only.
SmallVector<WindowedDim, 2> getWindowedDims(Operation *op);
/// The first of its operands have these dimensions: several inputs of a reduction, one of others, none where no op of
/// the kind has windows.
unsigned getNumWindowedOperands(Operation *op);

/// The part of the operand that one of several equal parts of a result needs.
struct Footprint {
  SmallVector<int64_t> starts; // by part: the first element, which may be outside of the operand
  int64_t size;                // elements
  int64_t low, high;           // padding that the op still adds to them
  /// The most that a part needs of the one before it and of the one after it; below 0 if it needs less than it holds.
  int64_t before, after;
};
/// Returns the footprint of a part. None if the sizes of the dimension, of operand and result, do not divide, if parts
/// would need more than their neighbours hold, or if gathering is cheaper. A mirrored part needs only what it receives.
std::optional<Footprint> getFootprint(Operation *op, const WindowedDim &dim, int64_t parts);

/// Whether windows follow one another from the first element to the last, so that each element is in one of them, or in
/// a gap before the next.
bool isCutByWindows(SelectAndScatterOp op, int64_t dim);

/// The type of a factor along which an op looks at neighbours; `dim` is of operand 0.
::ttmlir::shapes::FactorType windowFactor(Operation *op, int64_t dim, ::ttmlir::shapes::FactorMode mode);

/// Whether two devices could compute the op along the dimension of its operand by exchanging edges.
bool mayExchangeEdges(Operation *op, int64_t operandDim);

} // namespace mlir::stablehlo

#endif // TTMLIR_DIALECT_STABLEHLO_IR_WINDOWS_H
