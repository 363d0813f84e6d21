//===- ScalarsInterface.h - ops as functions of numbers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An elementwise op names the function of single numbers that it computes (ttmlir/scalars/Functions.h). Rows declare it
// by TT_Computes.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H
#define TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace mlir::tt {

/// Names of the table of functions: for elements of any type, and for i1 where that is another one.
struct ScalarNames {
  StringRef function, ofPred;
  StringRef of(Type element) const { return element.isInteger(1) && !ofPred.empty() ? ofPred : function; }
};

class ScalarOpInterface;

namespace detail {
struct ScalarInterfaceTraits {
  struct Concept {
    ScalarNames (*names)();
  };
  template <class ConcreteOp> struct Model : Concept {
    using Interface = ScalarOpInterface;
    Model() : Concept{&ConcreteOp::scalarNames} {}
  };
  template <class ConcreteOp> using FallbackModel = Model<ConcreteOp>;
  template <class ConcreteModel, class ConcreteOp> struct ExternalModel : FallbackModel<ConcreteModel> {
    using ConcreteEntity = ConcreteOp;
  };
};
} // namespace detail

/// An op that computes a function of single numbers for each element.
class ScalarOpInterface : public OpInterface<ScalarOpInterface, detail::ScalarInterfaceTraits> {
public:
  using OpInterface::OpInterface;
  template <class ConcreteOp> struct Trait : OpInterface::Trait<ConcreteOp> {};

  ScalarNames getNames() { return getImpl()->names(); }
};

/// Returns the names of a registered op's function, or nothing.
inline std::optional<ScalarNames> scalarNamesOf(OperationName name) {
  const auto *row = name.getInterface<ScalarOpInterface>();
  return row ? std::optional(row->names()) : std::nullopt;
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H
