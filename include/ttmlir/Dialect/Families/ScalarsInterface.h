//===- ScalarsInterface.h - ops as functions of numbers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An elementwise op names the function of single numbers that it computes (ttmlir/scalars/Functions.h), and the numbers
// that are neutral in it. Rows declare them by TT_Computes and TT_Neutral.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H
#define TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include <cmath>
#include <optional>

namespace mlir::tt {

/// Names in the table of functions: for elements of any type, and for i1 if that differs.
struct ScalarNames {
  StringRef function, ofPred;
  StringRef of(Type element) const { return element.isInteger(1) && !ofPred.empty() ? ofPred : function; }
};

/// The numbers that leave the other operand of an op of two operands as it is, and the one that decides the result.
struct NeutralNumbers {
  double ofFloats, ofIntegers; // NAN: none; integers: -INFINITY is the lowest of the type, INFINITY the highest
  bool commutes;               // either operand may be the number
  std::optional<int64_t> absorbing;

  /// Returns whether `number` is the neutral number of its type; `anyZero`: zeros of both signs count.
  bool isNeutral(Attribute number, bool anyZero = false) const {
    if (auto real = dyn_cast_if_present<FloatAttr>(number)) {
      bool inexact = false;
      llvm::APFloat expected(ofFloats);
      expected.convert(real.getValue().getSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      // NaN is no number, and some formats have no infinities.
      return !expected.isNaN() && (anyZero ? expected == real.getValue() : expected.bitwiseIsEqual(real.getValue()));
    }
    auto integer = dyn_cast_if_present<IntegerAttr>(number);
    return integer && isEqual(integer, ofIntegers);
  }

  /// Returns whether `number` is the integer that decides the result.
  bool isAbsorbing(Attribute number) const {
    auto integer = dyn_cast_if_present<IntegerAttr>(number);
    return absorbing && integer && isEqual(integer, static_cast<double>(*absorbing));
  }

private:
  static bool isEqual(IntegerAttr attribute, double number) {
    const llvm::APInt value = attribute.getValue();
    // i1 has no sign.
    const bool isSigned = value.getBitWidth() > 1 && !attribute.getType().isUnsignedInteger();
    if (std::isinf(number))
      return number < 0 ? (isSigned ? value.isMinSignedValue() : value.isMinValue())
                        : (isSigned ? value.isMaxSignedValue() : value.isMaxValue());
    return number == number && value == llvm::APInt(value.getBitWidth(), static_cast<int64_t>(number),
                                                    /*isSigned=*/true, /*implicitTrunc=*/true);
  }
};

class ScalarOpInterface;
class NeutralOpInterface;

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

struct NeutralInterfaceTraits {
  struct Concept {
    NeutralNumbers (*numbers)();
  };
  template <class ConcreteOp> struct Model : Concept {
    using Interface = NeutralOpInterface;
    Model() : Concept{&ConcreteOp::neutralNumbers} {}
  };
  template <class ConcreteOp> using FallbackModel = Model<ConcreteOp>;
  template <class ConcreteModel, class ConcreteOp> struct ExternalModel : FallbackModel<ConcreteModel> {
    using ConcreteEntity = ConcreteOp;
  };
};
} // namespace detail

/// An op that computes a scalar function for each element.
class ScalarOpInterface : public OpInterface<ScalarOpInterface, detail::ScalarInterfaceTraits> {
public:
  using OpInterface::OpInterface;
  template <class ConcreteOp> struct Trait : OpInterface::Trait<ConcreteOp> {};

  ScalarNames getNames() { return getImpl()->names(); }
};

/// An op of two operands that has a neutral number.
class NeutralOpInterface : public OpInterface<NeutralOpInterface, detail::NeutralInterfaceTraits> {
public:
  using OpInterface::OpInterface;
  template <class ConcreteOp> struct Trait : OpInterface::Trait<ConcreteOp> {};

  NeutralNumbers getNumbers() { return getImpl()->numbers(); }
};

/// Returns the names of a registered op's function, or nothing.
inline std::optional<ScalarNames> scalarNamesOf(OperationName name) {
  const auto *row = name.getInterface<ScalarOpInterface>();
  return row ? std::optional(row->names()) : std::nullopt;
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_SCALARSINTERFACE_H
