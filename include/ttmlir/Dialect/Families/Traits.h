//===- Traits.h - markers of op families ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes query a family by trait, never an op by name: `op->hasTrait<mlir::tt::trait::Elementwise>()`.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_TRAITS_H
#define TTMLIR_DIALECT_FAMILIES_TRAITS_H

#include "ttmlir/Dialect/Families/FactorsInterface.h"
#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/Families/ScalarsInterface.h"
#include "ttmlir/Dialect/Shapes/Shapes.h"

#include "mlir/IR/OpDefinition.h"

namespace mlir::tt::folds {
// Algebraic laws of ops of both dialects, defined in lib/Dialect/Families/Folds.cpp.
OpFoldResult elementwise(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult idempotent(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult involution(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult idempotentOperands(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult neutral(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult cancelling(Operation *op, ArrayRef<Attribute> operands);
} // namespace mlir::tt::folds

namespace mlir::tt::trait {

#define TTMLIR_FAMILY_TRAIT(name)                                                                                      \
  template <class ConcreteOp> class name : public OpTrait::TraitBase<ConcreteOp, name> {}

/// Combines the values along some dimensions.
TTMLIR_FAMILY_TRAIT(Reduction);
/// Exchanges values between the chips of a mesh, or distributes them.
TTMLIR_FAMILY_TRAIT(Collective);
/// Is read and written, but not run: the inputs of its kernels are not published.
TTMLIR_FAMILY_TRAIT(Unpublished);

/// Depends on the position of its operand within a period: a large operand needs all of its digits.
TTMLIR_FAMILY_TRAIT(Periodic);

#undef TTMLIR_FAMILY_TRAIT

#define TTMLIR_FOLDING_TRAIT(name, rule)                                                                               \
  template <class ConcreteOp> class name : public OpTrait::TraitBase<ConcreteOp, name> {                               \
  public:                                                                                                              \
    static OpFoldResult foldTrait(Operation *op, ArrayRef<Attribute> operands) { return folds::rule(op, operands); }   \
  }

/// Each value of the result depends on one value of each operand, up to broadcasting. If all operands are splats, so is
/// the result.
TTMLIR_FOLDING_TRAIT(Elementwise, elementwise);
/// f(f(x)) is f(x).
TTMLIR_FOLDING_TRAIT(Idempotent, idempotent);
/// f(f(x)) is x.
TTMLIR_FOLDING_TRAIT(Involution, involution);
/// f(x, x) is x.
TTMLIR_FOLDING_TRAIT(IdempotentOperands, idempotentOperands);
/// f(x, n) is x for the neutral number n, and f(x, a) is a for the absorbing integer a (TT_Neutral).
TTMLIR_FOLDING_TRAIT(FoldsNeutral, neutral);
/// f(x, x) is 0, for integers.
TTMLIR_FOLDING_TRAIT(Cancelling, cancelling);

#undef TTMLIR_FOLDING_TRAIT

/// Satisfies its shape rule, and has results of the shapes that the rule computes.
template <class ConcreteOp> class CheckedShape : public OpTrait::TraitBase<ConcreteOp, CheckedShape> {
public:
  static LogicalResult verifyTrait(Operation *op) { return shapes::verifyShapes<ConcreteOp>(op); }
  /// Implements the method of FactorsOpInterface.
  static std::optional<::ttmlir::shapes::Factors> factorsOf(Operation *op, ::ttmlir::shapes::FactorMode) {
    return shapes::withSubject<ConcreteOp>(op, shapes::inferFactors);
  }
};

} // namespace mlir::tt::trait

#endif // TTMLIR_DIALECT_FAMILIES_TRAITS_H
