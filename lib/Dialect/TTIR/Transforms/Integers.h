//===- Integers.h - integer types that the chip lacks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The chip has si32, ui32, ui16 and ui8. Integers of 2 and 4 bits, and signed ones of 8 and 16, are computed in si32,
// or in ui8 if they are unsigned; results that may leave the narrow type are wrapped to it, modulo 2^n, right after the
// op. Integers of 64 bits are held in 32: those that are known at compile time have to fit.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_INTEGERS_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_INTEGERS_H

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {

/// The width of the elements of a tensor of integers of 2 or 4 bits, or signed (or signless) ones of 8 or 16, else 0.
unsigned narrowWidth(Type type);

/// Emits an error for elements, and for attributes that become elements, that the chip's type for the result cannot
/// hold.
LogicalResult checkKnownIntegers(Operation *op);

/// Whether a result is a tensor of 64-bit integers that are not known at compile time.
bool has64BitResults(Operation *op);

/// The ops around which narrow integers need more than another element type. They are collected while types are those
/// of the source, and rewritten when every tensor has a type of the chip.
class NarrowIntegers {
public:
  /// Fails, with an error, for an op that has no counterpart on wider types.
  LogicalResult collect(Operation *op);
  /// Whether anything was changed.
  bool rewrite();

private:
  struct Entry {
    Operation *op;
    SmallVector<unsigned> widths; // narrow widths of the results; 0 for those that need nothing
    SmallVector<bool> isUnsigned; // of each result
    Type from, to;                // element types of a bitcast or typecast in the source
  };
  void rewriteBitcast(const Entry &entry);
  void wrapResults(const Entry &entry);
  void rewriteWideShift(Operation *op);

  Value wrapped(OpBuilder &builder, Location loc, Location last, Value value, unsigned width, bool isUnsigned);
  /// Returns a splat constant, which its users broadcast.
  Value constant(Value like, int64_t number);

  SmallVector<Entry> entries;
  SmallVector<Operation *> wideShifts; // logical ones to the right, of signed integers of 64 bits
  DenseMap<std::pair<Block *, std::pair<int64_t, int64_t>>, Value> constants; // by block, rank and number
};

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_INTEGERS_H
