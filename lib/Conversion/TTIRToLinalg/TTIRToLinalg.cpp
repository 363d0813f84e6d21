//===- TTIRToLinalg.cpp - functions of TTIR as linalg on tensors ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PowOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTIRTOLINALG
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

const Rules &host::allRules() {
  static const Rules rules = [] {
    Rules made;
    addElementwiseRules(made);
    addMovementRules(made);
    addReductionRules(made);
    return made;
  }();
  return rules;
}

std::string host::refusalOf(Operation *op) {
  if (!allRules().contains(op->getName().getStringRef()))
    return "the host has no code for it";
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    if (!hostType(type)) {
      std::string text = "the host has no type for ";
      llvm::raw_string_ostream(text) << type;
      return text;
    }
  // What is evaluated ahead asks before it is moved here.
  if (auto power = dyn_cast<ttir::PowOp>(op); power && isa<IntegerType>(power.getType().getElementType()))
    return "powers of integers are not computed on the host";
  return "";
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
  LogicalResult lower(func::FuncOp function) {
    bool ok = true;
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() != "ttir")
        return;
      std::string refusal = refusalOf(op);
      ops.push_back(op);
      if (refusal.empty())
        return;
      ok = false;
      op->emitError() << "'" << op->getName() << "' is not lowered to linalg: " << refusal;
    });
    if (ops.empty())
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
    DenseMap<Value, Value> lowered;
    function.setFunctionType(FunctionType::get(&getContext(), inputs, results));
    // Rules ask for the types in TTIR, which say what has a sign: the arguments keep theirs until all ops are lowered.
    OpBuilder builder(&getContext());
    SmallVector<Value> standIns;
    builder.setInsertionPointToStart(&function.getBody().front());
    for (auto [argument, type] : llvm::zip_equal(function.getArguments(), inputs)) {
      auto standIn = UnrealizedConversionCastOp::create(builder, argument.getLoc(), type, argument);
      lowered[argument] = standIn.getResult(0);
      standIns.push_back(standIn.getResult(0));
    }
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return lowered.lookup(v); });
      Lowering lowering(op, operands, builder);
      if (failed(allRules().find(op->getName().getStringRef())->second(lowering)))
        return op->emitError() << "'" << op->getName() << "' is not lowered to linalg: " << lowering.reason;
      lowered[op->getResult(0)] = lowering.made;
    }
    for (OpOperand &returned : function.getBody().front().getTerminator()->getOpOperands())
      returned.set(lowered.lookup(returned.get()));
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    for (auto [argument, standIn, type] : llvm::zip_equal(function.getArguments(), standIns, inputs)) {
      standIn.replaceAllUsesWith(argument);
      argument.setType(type);
      standIn.getDefiningOp()->erase();
    }
    return success();
  }
};
} // namespace
