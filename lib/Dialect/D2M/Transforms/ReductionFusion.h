//===- ReductionFusion.h - elementwise ops inside reductions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_REDUCTIONFUSION_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_REDUCTIONFUSION_H

#include "Elementwise.h"

namespace mlir::tt::d2m {

/// Whether a generic joins several tiles of a stream to each tile of its output: a reduction.
bool isReduction(GenericOp generic);

/// Creates, before a reduction, one that computes a producer's tiles itself: it reads the producer's inputs where it
/// read the result, packs tiles of the result into a circular buffer, and reduces those. The two generics stay. `input`
/// is the number of the reduction's input, a view of the result. Returns null if the tiles cannot be computed there
/// with the same bits.
GenericOp fuseIntoReduction(Elementwise producer, GenericOp reduction, unsigned input);

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_REDUCTIONFUSION_H
