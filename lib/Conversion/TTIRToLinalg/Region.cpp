//===- Region.cpp - ops of the host as one function -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Region.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

bool host::isFree(Operation *op) { return isa<arith::ConstantOp, tensor::EmptyOp>(op) && op->getNumOperands() == 0; }

//===----------------------------------------------------------------------===//
// Types at the boundary
//===----------------------------------------------------------------------===//

/// The type in which a program holds elements of this type; null if there is none. Types of the same width stay;
/// signedness is recorded elsewhere.
static Type chipElement(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<IndexType>(element))
    return IntegerType::get(context, 32);
  std::optional<ttcore::DataType> type = ttcore::elementTypeToDataType(element);
  if (!type)
    return {};
  Type held = ttcore::dataTypeToElementType(context, *type);
  return held.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth() ? element : held;
}

/// The same without signedness, as ops of arith require.
static Type signless(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? Type(IntegerType::get(element.getContext(), integer.getWidth())) : element;
}

static RankedTensorType tensorOf(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor ? tensor.getShape() : ArrayRef<int64_t>(), element);
}

/// Converts elements between types of different width or kind; both are signless.
static Value convertElements(OpBuilder &builder, Location loc, Value value, Type element, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = cast<RankedTensorType>(value.getType()).clone(element);
  if (isa<IndexType>(from) || isa<IndexType>(element))
    return arith::IndexCastOp::create(builder, loc, to, value);
  const bool isWider = element.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  if (isa<FloatType>(from))
    return isWider ? arith::ExtFOp::create(builder, loc, to, value).getResult()
                   : arith::TruncFOp::create(builder, loc, to, value).getResult();
  if (!isWider)
    return arith::TruncIOp::create(builder, loc, to, value);
  return isUnsigned ? arith::ExtUIOp::create(builder, loc, to, value).getResult()
                    : arith::ExtSIOp::create(builder, loc, to, value).getResult();
}

/// The same bits in a type with or without signedness; the lowering to linalg removes this op.
static Value withSign(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0);
}

static bool isUnsigned(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.isUnsigned();
}

/// An argument of the function, converted to the value of type `target` that it represents.
Value HostRegion::enter(Value argument, Type target) {
  Location loc = argument.getLoc();
  Type element = getElementTypeOrSelf(target);
  Value value = convertElements(builder, loc, argument, signless(element), isUnsigned(target));
  if (!isa<RankedTensorType>(target))
    return tensor::ExtractOp::create(builder, loc, value, ValueRange());
  return withSign(builder, loc, value, target);
}

/// A value as a result of the function, of type `given`.
Value HostRegion::leave(Value value, Type given) {
  Location loc = value.getLoc();
  Type element = signless(getElementTypeOrSelf(value.getType()));
  if (!isa<RankedTensorType>(value.getType()))
    value = tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({}, element), ValueRange(value));
  const bool wasUnsigned = isUnsigned(value.getType());
  value = withSign(builder, loc, value, tensorOf(value.getType(), element));
  return convertElements(builder, loc, value, getElementTypeOrSelf(given), wasUnsigned);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LogicalResult HostRegion::findValues() {
  Block *block = ops.front()->getBlock();
  llvm::SmallSetVector<Value, 8> read;
  llvm::SmallSetVector<Operation *, 8> created;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (operand.getParentBlock() != block)
          continue; // of a region in here
        Operation *producer = operand.getDefiningOp();
        if (producer && own.contains(producer))
          continue;
        if (producer && isFree(producer))
          created.insert(producer);
        else
          read.insert(operand);
      }
    });
  constants = created.takeVector();
  ins = read.takeVector();
  auto isReadOutside = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      return !ancestor || !own.contains(ancestor);
    });
  };
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (isReadOutside(result))
        outs.push_back(result);
  for (Value value : ins)
    if (!isa<RankedTensorType>(value.getType()) && !held.contains(value))
      return ops.back()->emitError() << "'" << ops.back()->getName() << "' on the host reads " << value.getType()
                                     << ", and a program is given tensors";
  for (Value value : llvm::concat<Value>(ins, outs))
    if (!chipElement(getElementTypeOrSelf(value.getType())))
      return ops.back()->emitError() << "'" << ops.back()->getName() << "' on the host exchanges " << value.getType()
                                     << " with the chip, which no data format holds";
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

func::FuncOp HostRegion::makeFunction(TypeRange declaredIns, TypeRange declaredOuts) {
  Location loc = ttcore::withoutSourceNumber(ops.back()->getLoc());
  auto own = [](TypeRange types) {
    return llvm::map_to_vector(types,
                               [](Type type) -> Type { return tensorOf(type, signless(getElementTypeOrSelf(type))); });
  };
  std::string name = "cpu_hoisted_fallback";
  if (ops.size() == 1)
    name = "cpu_hoisted_" + llvm::join(llvm::split(ops.front()->getName().getStringRef(), '.'), "_");
  SmallVector<Type> results = own(declaredOuts);
  func::FuncOp function = hoister.create(loc, name, builder.getFunctionType(declaredIns, declaredOuts),
                                         builder.getFunctionType(own(declaredIns), results));
  builder.setInsertionPointToStart(&function.getBody().front());
  IRMapping mapping;
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (auto [value, argument] : llvm::zip_equal(ins, function.getArguments()))
    mapping.map(value, enter(argument, value.getType()));
  for (Operation *op : ops)
    builder.clone(*op, mapping)->walk([](Operation *inner) { inner->removeAttr(ttir::ShouldHoistAttr::attrName); });
  SmallVector<Value> returned;
  for (auto [value, type] : llvm::zip_equal(outs, results))
    returned.push_back(leave(mapping.lookup(value), type));
  func::ReturnOp::create(builder, loc, returned);

  // Equal functions, as from the layers of a model, are merged.
  const std::string symbol = function.getSymName().str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.setSymName("");
  function->print(stream, OpPrintingFlags().useLocalScope());
  function.setSymName(symbol);
  auto [found, isNew] = known.try_emplace(text, function);
  if (!isNew)
    hoister.erase(function);
  return found->second;
}

LogicalResult HostRegion::outline() {
  if (failed(findValues()))
    return failure();
  if (outs.empty())
    return success(); // its result is unused
  Operation *last = outs.back().getDefiningOp();
  Location aside = ttcore::withoutSourceNumber(last->getLoc());
  auto declared = [](Value value) -> Type {
    return tensorOf(value.getType(), chipElement(getElementTypeOrSelf(value.getType())));
  };
  SmallVector<Type> declaredIns = llvm::map_to_vector(ins, declared);
  SmallVector<Type> declaredOuts = llvm::map_to_vector(outs, declared);
  func::FuncOp function = makeFunction(declaredIns, declaredOuts);
  builder.setInsertionPointAfter(ops.back());
  SmallVector<Value> operands;
  for (auto [value, type] : llvm::zip_equal(ins, declaredIns)) {
    Value there = held.lookup(value);
    operands.push_back(there ? there : castTo(builder, aside, value, type));
  }
  // The last op computes the value of the source op.
  const Type lastType = outs.back().getType();
  const bool isCast = isa<RankedTensorType>(lastType) && lastType != declaredOuts.back();
  auto call = Hoister::call(builder, isCast ? aside : last->getLoc(), function, declaredOuts, operands);
  Block *block = last->getBlock();
  auto isOfChip = [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    return !user || !isForHost(user);
  };
  for (auto [from, value] : llvm::zip_equal(call.getResults(), outs)) {
    held[value] = from;
    if (llvm::any_of(value.getUses(), isOfChip))
      value.replaceUsesWithIf(castTo(builder, value == outs.back() ? last->getLoc() : aside, from, value.getType()),
                              isOfChip);
  }
  return success();
}
