//===- Shapes.h - shape rules of TTIR and TTNN -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The rules are in ttmlir/shapes/Shapes.h, which does not depend on MLIR. Ops of the dialects query them here, for
// inference and for verification. Element types and encodings belong to the dialects and are added here.
//
// Inference runs before any verifier, on anything that a parser or a Python program provides, so it trusts only the
// number of operands and the presence and kind of attributes, which it has checked.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_SHAPES_SHAPES_H
#define TTMLIR_DIALECT_SHAPES_SHAPES_H

#include "ttmlir/shapes/Factors.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/ValueRange.h"

#include <optional>

namespace mlir::tt::shapes {

/// Signless attributes are read as unsigned numbers; this returns the intended ones.
inline int64_t signedInt(uint64_t value) { return static_cast<int64_t>(value); }
inline int64_t signedInt(uint32_t value) { return static_cast<int32_t>(value); }
inline int64_t signedInt(int32_t value) { return value; }
inline int64_t signedInt(int64_t value) { return value; }
inline int64_t signedInt(int8_t value) { return value; }

/// Whether types are tensors or memrefs of pairwise equal shapes.
bool haveSameShapes(TypeRange a, TypeRange b);
bool haveSameElementWidth(Value a, Value b);

//===----------------------------------------------------------------------===//
// The description of an op
//===----------------------------------------------------------------------===//

/// The numbers of a field of a config attribute, or of the attribute itself if `field` is empty.
struct ConfigNumbers {
  bool isList;
  SmallVector<int64_t> values;
};
using ConfigReader = std::optional<ConfigNumbers> (*)(Attribute config, StringRef field);

struct OpShapes {
  StringLiteral operands; // names, `?` behind an optional one and `*` behind a variadic one: "input weight bias?"
  StringLiteral rule;     // in lib/shapes
  /// The element type of each result and, if the shape is the same, its encoding: the name of an operand, i32, f32, or
  /// `@attribute`. If empty, all results follow the first operand. "shaped": the same, and memrefs are accepted.
  StringLiteral types;
  ConfigReader readConfig;
};

/// An existing op, or one that is being built.
struct Subject {
  MLIRContext *context;
  std::optional<Location> location;
  StringRef name;
  ValueRange operands;
  std::optional<ArrayRef<int32_t>> segments; // how many values belong to each operand, if the op says so
  llvm::function_ref<Attribute(StringRef)> attribute;
  Operation *op = nullptr; // with its results, when it is there
};

/// Reports a number of operands that the names do not allow.
LogicalResult checkArity(const OpShapes &shapes, const Subject &subject);
/// Appends the types of the results, or reports the error.
LogicalResult infer(const OpShapes &shapes, const Subject &subject, SmallVectorImpl<Type> &results);
/// The op satisfies its rule, and so do the shapes of its results.
LogicalResult verify(const OpShapes &shapes, const Subject &subject);
/// Returns the factors of the op's dimensions, if it has any.
std::optional<::ttmlir::shapes::Factors> inferFactors(const OpShapes &shapes, const Subject &subject);

/// Calls the verifier of an op's attributes; without a location, errors are not reported.
LogicalResult checkAttributes(MLIRContext *context, std::optional<Location> location,
                              llvm::function_ref<LogicalResult(Location)> verify);

//===----------------------------------------------------------------------===//
// Used by the generated callers
//===----------------------------------------------------------------------===//

template <class ConcreteOp> using PropertiesOf = typename ConcreteOp::template InferredProperties<ConcreteOp>;

/// The number of values of each operand, if the op states it; an op that should have properties and lacks them has
/// none.
template <class ConcreteOp> std::optional<ArrayRef<int32_t>> segmentsOf(OpaqueProperties properties) {
  if constexpr (ConcreteOp::template hasTrait<OpTrait::AttrSizedOperandSegments>())
    return properties ? ArrayRef<int32_t>(properties.as<PropertiesOf<ConcreteOp> *>()->operandSegmentSizes)
                      : ArrayRef<int32_t>();
  else
    return std::nullopt;
}

template <class ConcreteOp>
Attribute attributeOf(MLIRContext *context, const PropertiesOf<ConcreteOp> &properties, StringRef name) {
  if constexpr (requires { ConcreteOp::getInherentAttr(context, properties, name); })
    return ConcreteOp::getInherentAttr(context, properties, name).value_or(Attribute());
  else
    return {};
}

/// Implements `inferReturnTypes` of an op.
template <class ConcreteOp>
LogicalResult inferTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                         DictionaryAttr attributes, OpaqueProperties given, RegionRange regions,
                         SmallVectorImpl<Type> &results) {
  // An op that is being built lacks the defaults of attributes that were not given, and the adaptor relies on them.
  PropertiesOf<ConcreteOp> properties{};
  if (given)
    properties = *given.as<PropertiesOf<ConcreteOp> *>();
  ConcreteOp::populateDefaultProperties(OperationName(ConcreteOp::getOperationName(), context), properties);
  auto attribute = [&](StringRef name) { return attributeOf<ConcreteOp>(context, properties, name); };
  const Subject subject{context,  location, ConcreteOp::getOperationName(), operands, segmentsOf<ConcreteOp>(given),
                        attribute};
  if (failed(checkArity(ConcreteOp::getOpShapes(), subject)))
    return failure();
  typename ConcreteOp::Adaptor adaptor(operands, attributes, OpaqueProperties(&properties), regions);
  // Checks that required attributes are present and that every attribute is of its kind.
  if (failed(checkAttributes(context, location, [&](Location at) { return adaptor.verify(at); })))
    return failure();
  return infer(ConcreteOp::getOpShapes(), subject, results);
}

/// Calls a function with an op that is there.
template <class ConcreteOp, class Function> auto withSubject(Operation *op, Function &&function) {
  MLIRContext *context = op->getContext();
  OpaqueProperties properties = op->getPropertiesStorage();
  auto attribute = [&](StringRef name) {
    if constexpr (std::is_same_v<PropertiesOf<ConcreteOp>, EmptyProperties>)
      return Attribute();
    else
      return attributeOf<ConcreteOp>(context, *properties.as<PropertiesOf<ConcreteOp> *>(), name);
  };
  return function(ConcreteOp::getOpShapes(),
                  Subject{context, op->getLoc(), op->getName().getStringRef(), op->getOperands(),
                          segmentsOf<ConcreteOp>(properties), attribute, op});
}

/// Verifies the shapes of an op, after the constraints that ODS states.
template <class ConcreteOp> LogicalResult verifyShapes(Operation *op) { return withSubject<ConcreteOp>(op, verify); }

} // namespace mlir::tt::shapes

#endif // TTMLIR_DIALECT_SHAPES_SHAPES_H
