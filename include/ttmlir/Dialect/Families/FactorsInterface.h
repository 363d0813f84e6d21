//===- FactorsInterface.h - how dimensions of an op follow ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops of all dialects state how the dimensions of their results follow those of their operands
// (ttmlir/shapes/Factors.h). Rows declare it: TTIR and TTNN by their shape rule (TT_InferShape), other dialects by
// TT_Factors.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_FACTORSINTERFACE_H
#define TTMLIR_DIALECT_FAMILIES_FACTORSINTERFACE_H

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/shapes/Factors.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <optional>

namespace mlir::tt {

using ::ttmlir::shapes::FactorKind;
using ::ttmlir::shapes::FactorMode;
using ::ttmlir::shapes::Factors;

class FactorsOpInterface;

namespace detail {
struct FactorsInterfaceTraits {
  struct Concept {
    std::optional<Factors> (*factors)(Operation *op, FactorMode mode);
  };
  template <class ConcreteOp> struct Model : Concept {
    using Interface = FactorsOpInterface;
    Model() : Concept{&ConcreteOp::factorsOf} {}
  };
  template <class ConcreteOp> using FallbackModel = Model<ConcreteOp>;
  template <class ConcreteModel, class ConcreteOp> struct ExternalModel : FallbackModel<ConcreteModel> {
    using ConcreteEntity = ConcreteOp;
  };
};
} // namespace detail

/// An op whose dimensions are related by factors.
class FactorsOpInterface : public OpInterface<FactorsOpInterface, detail::FactorsInterfaceTraits> {
public:
  using OpInterface::OpInterface;
  template <class ConcreteOp> struct Trait : OpInterface::Trait<ConcreteOp> {};

  /// The factors, or nothing if they or the sizes are not known. Random values depend on their position.
  std::optional<Factors> getFactors(FactorMode mode = FactorMode::Full) {
    auto isOpen = [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped && !shaped.hasStaticShape();
    };
    if (getOperation()->hasTrait<trait::DrawsValues>() || llvm::any_of(getOperation()->getOperandTypes(), isOpen) ||
        llvm::any_of(getOperation()->getResultTypes(), isOpen))
      return std::nullopt;
    return getImpl()->factors(getOperation(), mode);
  }
};

/// The tensors of an op, without factors. Values that are not tensors have no dimensions.
inline Factors tensorsOf(Operation *op) {
  auto shapesOf = [](TypeRange types) {
    return llvm::map_to_vector<4>(types, [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      ArrayRef<int64_t> shape = shaped && shaped.hasRank() ? shaped.getShape() : ArrayRef<int64_t>();
      return ::ttmlir::shapes::View(shape.data(), shape.size());
    });
  };
  const auto operands = shapesOf(op->getOperandTypes()), results = shapesOf(op->getResultTypes());
  return Factors({operands.data(), operands.size()}, {results.data(), results.size()});
}

// Families of ops of several dialects, for TT_Factors.
inline std::optional<Factors> elementwiseFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  elementwiseFactors(factors);
  return factors.finish();
}
/// Dimensions that change are taken whole.
inline std::optional<Factors> resizeFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  resizeFactors(factors, ::ttmlir::shapes::kBlockedReplication);
  return factors.finish();
}

/// Whether every result element is computed from the operand elements at the same position, and from scalars.
inline bool isPointwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<trait::Pointwise>();
}

inline std::optional<Factors> getFactors(Operation *op, FactorMode mode = FactorMode::Full) {
  if (auto interface = dyn_cast<FactorsOpInterface>(op))
    return interface.getFactors(mode);
  return isPointwise(op) ? elementwiseFactors(op, mode) : std::nullopt;
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_FACTORSINTERFACE_H
