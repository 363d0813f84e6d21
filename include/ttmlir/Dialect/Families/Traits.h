//===- Traits.h - markers of op families ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes ask for a family by trait, never for an op by name:
// `op->hasTrait<mlir::tt::trait::Elementwise>()`.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_TRAITS_H
#define TTMLIR_DIALECT_FAMILIES_TRAITS_H

#include "ttmlir/Dialect/Families/FactorsInterface.h"
#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/Shapes/Shapes.h"

#include "mlir/IR/OpDefinition.h"

namespace mlir::tt::folds {
// Laws of ops of both dialects, defined in lib/Dialect/Families/Folds.cpp.
OpFoldResult elementwise(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult idempotent(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult involution(Operation *op, ArrayRef<Attribute> operands);
OpFoldResult idempotentOperands(Operation *op, ArrayRef<Attribute> operands);
} // namespace mlir::tt::folds

namespace mlir::tt::trait {

#define TTMLIR_FAMILY_TRAIT(name)                                                                                      \
  template <class ConcreteOp> class name : public OpTrait::TraitBase<ConcreteOp, name> {}

/// Combines the values along some dimensions.
TTMLIR_FAMILY_TRAIT(Reduction);
/// Exchanges values between the chips of a mesh, or distributes them.
TTMLIR_FAMILY_TRAIT(Collective);
/// Is read and written, but not run: what its kernels take is published nowhere.
TTMLIR_FAMILY_TRAIT(Unpublished);

/// Depends on the position of its operand in a period: a large operand needs all of its digits.
TTMLIR_FAMILY_TRAIT(Periodic);

#undef TTMLIR_FAMILY_TRAIT

#define TTMLIR_FOLDING_TRAIT(name, rule)                                                                               \
  template <class ConcreteOp> class name : public OpTrait::TraitBase<ConcreteOp, name> {                               \
  public:                                                                                                              \
    static OpFoldResult foldTrait(Operation *op, ArrayRef<Attribute> operands) { return folds::rule(op, operands); }   \
  }

/// Each value of the result depends on one value of each operand, up to broadcasting. Of constants it is one.
TTMLIR_FOLDING_TRAIT(Elementwise, elementwise);
/// f(f(x)) is f(x).
TTMLIR_FOLDING_TRAIT(Idempotent, idempotent);
/// f(f(x)) is x.
TTMLIR_FOLDING_TRAIT(Involution, involution);
/// f(x, x) is x.
TTMLIR_FOLDING_TRAIT(IdempotentOperands, idempotentOperands);

#undef TTMLIR_FOLDING_TRAIT

/// Is as its shape rule wants it, and has results of the shapes that the rule gives.
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
