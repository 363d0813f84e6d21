//===- TensorBuffers.h - buffers that are tensors of TTNN -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_TENSORBUFFERS_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_TENSORBUFFERS_H

#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tt::d2m {

/// Lets generics read a tensor where it is, if its tiles are pages of DRAM: `cast` makes a buffer of a copy in L1. With
/// `moves`, another tensor than such a one is brought to DRAM before. Returns whether the copy is gone.
bool readFromPages(ttir::TTNNMetalLayoutCastOp cast, bool moves, uint64_t blockBytes);

/// Returns the cast by which the tensor of a buffer leaves for the pages of DRAM, or null: nothing else sees the
/// tensor.
ttir::TTNNMetalLayoutCastOp castToPages(memref::AllocOp alloc);

/// Lets generics write a buffer that leaves by `cast` to the pages of its tensor in DRAM.
void writeToPages(memref::AllocOp alloc, ttir::TTNNMetalLayoutCastOp cast, uint64_t blockBytes);

/// Bytes that a tensor takes of the L1 of each of `cores` cores; 0 if it is not in L1.
uint64_t l1BytesOf(Type tensor, uint64_t cores);

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_TENSORBUFFERS_H
