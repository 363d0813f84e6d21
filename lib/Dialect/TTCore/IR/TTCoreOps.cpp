//===- TTCoreOps.cpp - ops of the TTCore dialect --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt::ttcore;

/// `tuple<tensor<2xf32>, tensor<3xf32>>`: the operands have the types of its elements.
static ParseResult parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(at) << "the result is " << result << "; expected a tuple";
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

static void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange, TupleType result) { printer << result; }

#define GET_OP_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreOps.cpp.inc"

static LogicalResult verifyHoldsOneModule(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (!llvm::hasSingleElement(body) || !isa<ModuleOp>(body.front()))
    return op->emitOpError("holds ") << std::distance(body.begin(), body.end())
                                     << " ops; expected one builtin.module and nothing else";
  return success();
}

LogicalResult DeviceModuleOp::verify() { return verifyHoldsOneModule(*this); }
LogicalResult CPUModuleOp::verify() { return verifyHoldsOneModule(*this); }

/// Without the mark that chips have values of their own: values computed from those get it when layouts are assigned.
static Type withoutMesh(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<TensorMeshAttr>(tensor.getEncoding())
             ? RankedTensorType::get(tensor.getShape(), tensor.getElementType())
             : type;
}
static bool areAlike(Type a, Type b) { return a == b || withoutMesh(a) == withoutMesh(b); }

LogicalResult OptimizationBarrierOp::verify() {
  if (!llvm::equal(getInputs().getTypes(), getResults().getTypes(), areAlike))
    return emitOpError("passes its inputs on; expected the types of inputs and results to be equal");
  return success();
}

/// Compares the op's `what`s with those of the function that it calls.
static LogicalResult checkTypes(Operation *op, StringRef what, TypeRange found, StringRef callee,
                                ArrayRef<Type> expected) {
  if (found.size() != expected.size())
    return op->emitOpError() << "has " << found.size() << ' ' << what << "s but '" << callee << "' " << expected.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip_equal(found, expected)))
    if (!areAlike(std::get<0>(types), std::get<1>(types)))
      return op->emitOpError() << what << ' ' << index << " is " << std::get<0>(types) << " but '" << callee << "' has "
                               << std::get<1>(types);
  return success();
}

static FunctionOpInterface lookupCallee(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, name);
  if (!callee)
    op->emitOpError("calls '") << name.getValue() << "', which is not a function of this module";
  return callee;
}

/// Verifies that the function that the op calls takes `inputs` and returns `results`.
static LogicalResult checkCallee(Operation *op, FlatSymbolRefAttr name, TypeRange inputs, TypeRange results,
                                 SymbolTableCollection &symbols) {
  FunctionOpInterface callee = lookupCallee(op, name, symbols);
  return success(callee && succeeded(checkTypes(op, "input", inputs, name.getValue(), callee.getArgumentTypes())) &&
                 succeeded(checkTypes(op, "result", results, name.getValue(), callee.getResultTypes())));
}

LogicalResult LoadCachedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return checkCallee(*this, getCalleeAttr(), getInputs().getTypes(), getResults().getTypes(), symbols);
}

static LogicalResult checkSelector(Operation *op, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() != 1)
    return op->emitOpError() << what << " is " << type << "; expected a tensor of one element";
  return success();
}

LogicalResult WhileOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getInputs().size() < getNumResults())
    return emitOpError() << "has " << getInputs().size() << " inputs; expected one for each of its " << getNumResults()
                         << " results, or more";
  TypeRange inputs = getInputs().getTypes();
  for (auto [index, types] : llvm::enumerate(llvm::zip(getResultTypes(), inputs)))
    if (!areAlike(std::get<0>(types), std::get<1>(types)))
      return emitOpError() << "result " << index << " is " << std::get<0>(types) << " but input " << index << " is "
                           << std::get<1>(types) << "; a loop carries values of one type";
  FunctionOpInterface condition = lookupCallee(*this, getCondAttr(), symbols);
  if (!condition || failed(checkTypes(*this, "input", inputs, getCond(), condition.getArgumentTypes())))
    return failure();
  if (condition.getNumResults() != 1)
    return emitOpError() << "'" << getCond() << "' returns " << condition.getNumResults() << " values; expected one";
  if (failed(checkSelector(*this, condition.getResultTypes().front(), "result of '" + getCond() + "'")))
    return failure();
  return checkCallee(*this, getBodyAttr(), inputs, getResultTypes(), symbols);
}

LogicalResult CaseOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getBranches().empty())
    return emitOpError("has no branches; expected one or more");
  if (failed(checkSelector(*this, getIndex().getType(), "index")))
    return failure();
  for (Attribute branch : getBranches())
    if (failed(checkCallee(*this, cast<FlatSymbolRefAttr>(branch), getInputs().getTypes(), getResultTypes(), symbols)))
      return failure();
  return success();
}

LogicalResult CompositeOp::verify() {
  if (getCompositeName().empty())
    return emitOpError("has no composite_name; expected the name of what it computes");
  return success();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return checkCallee(*this, getDecompositionAttr(), getInputs().getTypes(), getResultTypes(), symbols);
}

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  results.push_back(TupleType::get(context, TypeRange(adaptor.getOperands())));
  return success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &results) {
  auto tuple = dyn_cast<TupleType>(adaptor.getOperand().getType());
  if (!tuple || adaptor.getIndex() >= tuple.size())
    return emitOptionalError(location, "'", getOperationName(), "' op index is ", adaptor.getIndex(), " of ",
                             adaptor.getOperand().getType(), "; expected one of its elements, counted from 0");
  results.push_back(tuple.getType(adaptor.getIndex()));
  return success();
}

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  return tuple ? tuple.getOperands()[getIndex()] : OpFoldResult();
}

LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getSymNameAttr());
  if (!global)
    return emitOpError() << "reads '" << getSymName() << "', which is no ttcore.global of this module";
  if (global.getType() != getResult().getType())
    return emitOpError() << "result is " << getResult().getType() << " but '" << getSymName() << "' is "
                         << global.getType();
  return success();
}

static LogicalResult checkKey(Operation *op, Attribute key, size_t values) {
  if (auto name = dyn_cast<StringAttr>(key); name && name.getValue().empty())
    return op->emitOpError("has an empty key; expected a name or a number");
  if (auto number = dyn_cast<IntegerAttr>(key); number && number.getValue().isNegative())
    return op->emitOpError() << "has the key " << number.getInt() << "; expected 0 or more";
  if (values == 0)
    return op->emitOpError("has no values; expected one or more");
  return success();
}

LogicalResult GetKeyValueOp::verify() { return checkKey(*this, getKey(), getNumResults()); }
LogicalResult SetKeyValueOp::verify() { return checkKey(*this, getKey(), getValues().size()); }
