//===- TTIRToLinalg.cpp - functions of TTIR as linalg on tensors ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PowOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTIRTOLINALG
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

const Rules &host::allRules() {
  static const Rules rules = [] {
    Rules created;
    addElementwiseRules(created);
    addIndexingRules(created);
    addMovementRules(created);
    addRandomRules(created);
    addReductionRules(created);
    return created;
  }();
  return rules;
}

std::string host::refusalOf(Operation *op) {
  const StringRef name = op->getName().getStringRef();
  if (!hasCode(name))
    return "the host has no code for it";
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    if (!hostType(type)) {
      std::string text = "the host has no type for ";
      llvm::raw_string_ostream(text) << type;
      return text;
    }
  // Constant evaluation asks before the op is moved here.
  if (auto power = dyn_cast<ttir::PowOp>(op); power && isa<IntegerType>(power.getType().getElementType()))
    return "powers of integers are not computed on the host";
  if (allRules().contains(name))
    return "";
  // What would replace it, aside of the program.
  Block aside;
  IRMapping inside;
  for (Value operand : op->getOperands())
    if (!inside.contains(operand))
      inside.map(operand, aside.addArgument(operand.getType(), op->getLoc()));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&aside);
  Operation *copy = builder.clone(*op, inside);
  std::string refusal = expand(copy);
  for (Operation &each : aside)
    if (refusal.empty())
      refusal = refusalOf(&each);
  return refusal;
}

namespace {
struct ConvertTTIRToLinalg : tt::impl::ConvertTTIRToLinalgBase<ConvertTTIRToLinalg> {
  void runOnOperation() override {
    bool failed = false;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      failed |= mlir::failed(lower(function));
    if (failed)
      signalPassFailure();
  }

private:
  /// The type without signs of integers.
  static Type signless(Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.clone(signless(tensor.getElementType()));
    auto integer = dyn_cast<IntegerType>(type);
    return integer ? Type(IntegerType::get(type.getContext(), integer.getWidth())) : type;
  }

  /// Leaves only ops that have rules, and those that have no code.
  static LogicalResult expandAll(func::FuncOp function) {
    while (true) {
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) {
        const StringRef name = op->getName().getStringRef();
        if (!allRules().contains(name) && hasCode(name))
          ops.push_back(op);
      });
      if (ops.empty())
        return success();
      for (Operation *op : ops)
        if (std::string refusal = expand(op); !refusal.empty())
          return op->emitError() << "'" << op->getName() << "' is not lowered to linalg: " << refusal;
    }
  }

  LogicalResult lower(func::FuncOp function) {
    bool ok = true;
    SmallVector<Operation *> ops;
    bool any = false;
    if (failed(expandAll(function)))
      return failure();
    function.walk([&](Operation *op) {
      any |= isa<UnrealizedConversionCastOp>(op);
      if (op->getName().getDialectNamespace() != "ttir")
        return;
      std::string refusal = refusalOf(op);
      ops.push_back(op);
      if (refusal.empty())
        return;
      ok = false;
      op->emitError() << "'" << op->getName() << "' is not lowered to linalg: " << refusal;
    });
    if (ops.empty() && !any)
      return success();
    auto convert = [&](TypeRange from, SmallVector<Type> &to, StringRef what) {
      for (auto [index, type] : llvm::enumerate(from)) {
        to.push_back(hostType(type));
        if (to.back() || !ok)
          continue;
        ok = false;
        function.emitOpError() << what << ' ' << index << " is " << type << "; the host has no type for it";
      }
    };
    SmallVector<Type> inputs, results;
    convert(function.getArgumentTypes(), inputs, "argument");
    convert(function.getResultTypes(), results, "result");
    if (!ok)
      return failure();
    // Rules query the types in TTIR, which state signedness: values keep theirs until all ops are lowered.
    DenseMap<Value, Value> lowered;
    OpBuilder builder(&getContext());
    auto inLinalg = [&](Value value) {
      Value &known = lowered[value];
      if (!known) {
        builder.setInsertionPointAfterValue(value);
        known =
            UnrealizedConversionCastOp::create(builder, value.getLoc(), hostType(value.getType()), value).getResult(0);
      }
      return known;
    };
    for (Operation *op : ops) {
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), inLinalg);
      builder.setInsertionPoint(op);
      Lowering lowering(op, operands, builder);
      if (failed(allRules().find(op->getName().getStringRef())->second(lowering)))
        return op->emitError() << "'" << op->getName() << "' is not lowered to linalg: " << lowering.reason;
      lowered[op->getResult(0)] = lowering.created;
    }
    for (Operation *op : llvm::reverse(ops)) {
      for (OpResult result : op->getResults()) {
        if (result.use_empty())
          continue;
        // For an op of another dialect, or the terminator.
        Value created = lowered.lookup(result);
        builder.setInsertionPointAfter(op);
        result.replaceAllUsesWith(
            UnrealizedConversionCastOp::create(builder, op->getLoc(), result.getType(), created).getResult(0));
      }
      op->erase();
    }
    removeSigns(function, inputs, results);
    return success();
  }

  /// All types are signless now, so casts between signed and signless types do nothing.
  static void removeSigns(func::FuncOp function, TypeRange inputs, TypeRange results) {
    function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
    SmallVector<UnrealizedConversionCastOp> casts;
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        result.setType(signless(result.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(signless(argument.getType()));
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op); cast && cast->getNumOperands() == 1)
        casts.push_back(cast);
    });
    for (UnrealizedConversionCastOp cast : casts)
      if (cast.getOperand(0).getType() == cast.getResult(0).getType()) {
        cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
        cast.erase();
      }
  }
};
} // namespace
