//===- CommonAxes.h - axes of an op's factors on all devices ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_COMMONAXES_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_COMMONAXES_H

#include "../Common/Factors.h"

namespace mlir::sdy {

/// The rule of an op, the split of its tensors, and the factors that it must not split.
struct OpShardings {
  const Rule &rule;
  ArrayRef<FactorShardings> tensors;
  SmallVector<bool> needsWhole;
};

/// The axes of each factor by which all tensors are split while the op runs: the current ones if they agree; else those
/// that leave the most data in place.
SmallVector<Axes> findCommonAxes(const OpShardings &op);

/// Whether the tensors are split alike, and no factor that must be unsplit is split.
bool areCompatible(const OpShardings &op);

/// Returns the op that combines partial results of several devices to an op's result; none if there is no such op.
std::optional<ReductionOp> getReductionOp(Operation *op);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_COMMONAXES_H
