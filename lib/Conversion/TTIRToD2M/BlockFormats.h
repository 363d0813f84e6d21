//===- BlockFormats.h - the floats that stand for blocks --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_BLOCKFORMATS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_BLOCKFORMATS_H

#include "mlir/IR/Operation.h"

namespace mlir::tt {

/// The element types in which cores compute an op of block formats.
struct BlockFloats {
  Type operands, results;

  /// An op on tiles has what registers of 16 bits hold, and the matrix unit reads bf16 and adds in f32, as in the
  /// library. Both read blocks without loss. Other ops become several ones, in f32.
  static BlockFloats of(Operation *op);
};

/// Whether an op of block formats, and of no wider floats, is one on tiles: its kernel needs registers of 16 bits.
bool isOfTiles(Operation *op);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_BLOCKFORMATS_H
