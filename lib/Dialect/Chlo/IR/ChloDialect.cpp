//===- ChloDialect.cpp - the CHLO dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/DataBytecode.h"
#include "ttmlir/Dialect/KeySyntax.h"

#include "mlir/Dialect/Traits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::chlo;

#include "ttmlir/Dialect/Chlo/IR/ChloOpsDialect.cpp.inc"

#include "ttmlir/Dialect/Chlo/IR/ChloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/Chlo/IR/ChloAttrs.cpp.inc"

/// Other attributes are written as text.
static constexpr bytecode::Row<Attribute> bytecodeRows[] = {
    bytecode::enumRow<ComparisonDirectionAttr,
                      static_cast<std::optional<ComparisonDirection> (*)(uint32_t)>(symbolizeComparisonDirection)>(0),
    bytecode::enumRow<ComparisonTypeAttr,
                      static_cast<std::optional<ComparisonType> (*)(uint32_t)>(symbolizeComparisonType)>(1),
};

void ChloDialect::initialize() {
  addInterface<bytecode::Interface>(bytecodeRows, ArrayRef<bytecode::Row<Type>>());
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/Chlo/IR/ChloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
}

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting, ragged, group;
  if (parser.parseLess() || tt::syntax::parseKeys(parser, {{"lhs_batching_dimensions", &lhsBatching},
                                                           {"rhs_batching_dimensions", &rhsBatching},
                                                           {"lhs_contracting_dimensions", &lhsContracting},
                                                           {"rhs_contracting_dimensions", &rhsContracting},
                                                           {"lhs_ragged_dimensions", &ragged},
                                                           {"rhs_group_dimensions", &group}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting, ragged, group);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  tt::syntax::printLists(printer, {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
                                   {"rhs_batching_dimensions", getRhsBatchingDimensions()},
                                   {"lhs_contracting_dimensions", getLhsContractingDimensions()},
                                   {"rhs_contracting_dimensions", getRhsContractingDimensions()},
                                   {"lhs_ragged_dimensions", getLhsRaggedDimensions()},
                                   {"rhs_group_dimensions", getRhsGroupDimensions()}});
}

/// Inference is called before any verifier, with operands of any number and type.
static FailureOr<RankedTensorType> onlyOperand(std::optional<Location> location, StringRef op, ValueRange operands) {
  auto type = operands.size() == 1 ? dyn_cast<RankedTensorType>(operands.front().getType()) : RankedTensorType();
  if (type)
    return type;
  return emitOptionalError(location, op, ": has ", operands.size(), " operands; expected one ranked tensor");
}

namespace mlir::chlo::detail {
static LogicalResult inferPredicate(std::optional<Location> location, StringRef op, ValueRange operands,
                                    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = onlyOperand(location, op, operands);
  if (failed(type))
    return failure();
  types.push_back(type->clone(IntegerType::get(type->getContext(), 1)));
  return success();
}
} // namespace mlir::chlo::detail

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Chlo/IR/ChloOps.cpp.inc"

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = onlyOperand(location, op, operands);
  Adaptor adaptor(operands, attributes, properties, regions);
  if (failed(type) || failed(adaptor.verify(location.value_or(UnknownLoc::get(context)))))
    return failure();
  if (type->getRank() == 0)
    return emitOptionalError(location, op, ": operand is ", *type, "; expected rank 1 or more");
  const auto k = static_cast<int64_t>(adaptor.getK());
  const int64_t size = type->getShape().back();
  if (k < 0 || (!ShapedType::isDynamic(size) && k > size))
    return emitOptionalError(location, op, ": k is ", k, "; expected 0 to ", size, ", the last size of ", *type);
  SmallVector<int64_t> shape(type->getShape());
  shape.back() = k;
  types.push_back(type->clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// Checks the broadcast of operands of several shapes.
static LogicalResult checkBroadcast(Operation *op, std::optional<ArrayRef<int64_t>> dimensions) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (Type type : op->getOperandTypes()) {
    auto operand = cast<RankedTensorType>(type);
    const int64_t rank = operand.getRank();
    if (rank > result.getRank())
      return op->emitOpError() << "has an operand of type " << operand << " and a result of type " << result
                               << "; expected a result of the largest rank";
    SmallVector<int64_t> places = llvm::to_vector(llvm::seq(result.getRank() - rank, result.getRank()));
    if (dimensions && rank < result.getRank() && rank > 0) {
      if (static_cast<int64_t>(dimensions->size()) != rank)
        return op->emitOpError() << "broadcast_dimensions has " << dimensions->size()
                                 << " numbers; expected one for each dimension of " << operand;
      places.assign(dimensions->begin(), dimensions->end());
    }
    for (auto [place, size] : llvm::zip_equal(places, operand.getShape())) {
      if (place < 0 || place >= result.getRank())
        return op->emitOpError() << "broadcast_dimensions has " << place << "; expected a dimension of " << result;
      const int64_t to = result.getDimSize(place);
      if (size != 1 && size != to && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(to))
        return op->emitOpError() << "has an operand of type " << operand << " and a result of type " << result
                                 << "; expected size 1 or " << to << " in dimension " << place << " of the result";
    }
  }
  return success();
}

#define BROADCASTING(OP)                                                                                               \
  LogicalResult OP::verify() { return checkBroadcast(*this, getBroadcastDimensions()); }
BROADCASTING(BroadcastAddOp)
BROADCASTING(BroadcastAndOp)
BROADCASTING(BroadcastAtan2Op)
BROADCASTING(BroadcastCompareOp)
BROADCASTING(BroadcastComplexOp)
BROADCASTING(BroadcastDivOp)
BROADCASTING(BroadcastMaxOp)
BROADCASTING(BroadcastMinOp)
BROADCASTING(BroadcastMulOp)
BROADCASTING(BroadcastNextAfterOp)
BROADCASTING(BroadcastOrOp)
BROADCASTING(BroadcastPolygammaOp)
BROADCASTING(BroadcastPowOp)
BROADCASTING(BroadcastRemOp)
BROADCASTING(BroadcastShiftLeftOp)
BROADCASTING(BroadcastShiftRightArithmeticOp)
BROADCASTING(BroadcastShiftRightLogicalOp)
BROADCASTING(BroadcastSubOp)
BROADCASTING(BroadcastXorOp)
BROADCASTING(BroadcastZetaOp)
#undef BROADCASTING

LogicalResult BroadcastSelectOp::verify() { return checkBroadcast(*this, std::nullopt); }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantLikeOp::verify() {
  Type element = cast<RankedTensorType>(getType()).getElementType();
  if (getValue().getType() != element)
    return emitOpError() << "has a value of type " << getValue().getType() << "; expected " << element
                         << ", the elements of the result";
  return success();
}
