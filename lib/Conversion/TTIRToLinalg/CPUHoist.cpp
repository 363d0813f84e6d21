//===- CPUHoist.cpp - functions of the host -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Hoister.h"
#include "Lowering.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CPUHOISTMANUALLYTAGGEDOPSTRANSFORM
#define GEN_PASS_DEF_CPUHOISTCONSTEVALTRANSFORM
#define GEN_PASS_DEF_LOWERCPUHOISTEDCALLS
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

static constexpr StringLiteral tagName = ttir::ShouldHoistAttr::attrName;

namespace {
struct HoistTagged : tt::impl::CPUHoistManuallyTaggedOpsTransformBase<HoistTagged> {
  void runOnOperation() override {
    SmallVector<Operation *> tagged;
    deviceModule(getOperation()).walk([&](Operation *op) {
      if (op->hasAttr(tagName) && !isa<func::FuncOp>(op))
        tagged.push_back(op);
    });
    if (tagged.empty())
      return markAllAnalysesPreserved();
    Hoister hoister(getOperation());
    // Equal ops share a function.
    DenseMap<std::pair<Attribute, Attribute>, func::FuncOp> known;
    for (Operation *op : tagged) {
      op->removeAttr(tagName);
      if (std::string refusal = refusalOf(op); !refusal.empty()) {
        op->emitError() << "'" << op->getName() << "' is marked " << tagName << ", but " << refusal;
        return signalPassFailure();
      }
      OpBuilder builder(op);
      Location aside = ttcore::withoutSourceNumber(op->getLoc());
      SmallVector<Value> operands = llvm::map_to_vector(
          op->getOperands(), [&](Value value) { return castTo(builder, aside, value, native(value.getType())); });
      SmallVector<Type> results = llvm::map_to_vector(op->getResultTypes(), native);
      auto type = builder.getFunctionType(TypeRange(ValueRange(operands)), results);
      Attribute key =
          builder.getArrayAttr({builder.getStringAttr(op->getName().getStringRef()), op->getAttrDictionary()});
      func::FuncOp &function = known[{key, TypeAttr::get(type)}];
      if (!function) {
        function =
            hoister.create(aside, "cpu_hoisted_" + op->getName().stripDialect() + "_" + Twine(known.size() - 1), type);
        OpBuilder inside = OpBuilder::atBlockEnd(&function.getBody().front());
        Operation *copy = inside.clone(*op);
        copy->setOperands(function.getArguments());
        for (auto [result, changed] : llvm::zip_equal(copy->getResults(), results))
          result.setType(changed);
        copy->setLoc(aside);
        func::ReturnOp::create(inside, aside, copy->getResults());
      }
      // The last op computes the value of the source op.
      const bool isCast = !llvm::equal(results, op->getResultTypes());
      auto call = Hoister::call(builder, isCast ? aside : op->getLoc(), function, results, operands);
      for (auto [from, to] : llvm::zip_equal(call.getResults(), op->getResults()))
        to.replaceAllUsesWith(castTo(builder, op->getLoc(), from, to.getType()));
      op->erase();
    }
  }

private:
  /// Formats without a host type are f32 there.
  static Type native(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || hostElement(tensor.getElementType()))
      return type;
    return tensor.clone(Float32Type::get(type.getContext()));
  }
  static std::string refusalOf(Operation *op) {
    if (!hasCode(op->getName().getStringRef()))
      return "the host has no code for it";
    for (Type type : llvm::to_vector(op->getOperandTypes()))
      if (!hostType(native(type)))
        return "an operand is no tensor of static sizes";
    return "";
  }
};

struct HoistConstEval : tt::impl::CPUHoistConstEvalTransformBase<HoistConstEval> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> evaluated;
    for (auto function : deviceModule(getOperation()).getOps<func::FuncOp>())
      if (auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
          type && type == ttcore::constEvalType && !function.isExternal())
        evaluated.push_back(function);
    if (evaluated.empty())
      return markAllAnalysesPreserved();
    std::optional<Hoister> hoister;
    for (func::FuncOp function : evaluated) {
      Block &body = function.getBody().front();
      auto isHoisted = [](Operation &op) { return isa<func::CallOp>(op) && op.hasAttr(callName); };
      if (llvm::any_of(body.without_terminator(), isHoisted))
        continue;
      if (!llvm::all_of(body.without_terminator(), [](Operation &op) { return host::refusalOf(&op).empty(); })) {
        inlineAgain(function);
        continue;
      }
      if (!hoister)
        hoister.emplace(getOperation());
      func::FuncOp created =
          hoister->create(function.getLoc(), "cpu_hoisted_" + function.getSymName(), function.getFunctionType());
      Block &to = created.getBody().front();
      to.getOperations().splice(to.end(), body.getOperations());
      for (auto [from, argument] : llvm::zip_equal(function.getArguments(), created.getArguments()))
        from.replaceAllUsesWith(argument);
      OpBuilder builder = OpBuilder::atBlockEnd(&body);
      auto call =
          Hoister::call(builder, function.getLoc(), created, function.getResultTypes(), function.getArguments());
      func::ReturnOp::create(builder, function.getLoc(), call.getResults());
    }
  }

private:
  /// Inlines the ops of a function at its call.
  void inlineAgain(func::FuncOp function) {
    SmallVector<ttcore::LoadCachedOp> calls;
    deviceModule(getOperation()).walk([&](ttcore::LoadCachedOp call) {
      if (call.getCallee() == function.getSymName())
        calls.push_back(call);
    });
    for (ttcore::LoadCachedOp call : calls) {
      OpBuilder builder(call);
      IRMapping inside;
      inside.map(function.getArguments(), call.getInputs());
      for (Operation &op : function.getBody().front().without_terminator())
        builder.clone(op, inside);
      Operation *terminator = function.getBody().front().getTerminator();
      for (auto [result, value] : llvm::zip_equal(call.getResults(), terminator->getOperands()))
        result.replaceAllUsesWith(inside.lookup(value));
      call.erase();
    }
    function.erase();
  }
};

struct LowerCalls : tt::impl::LowerCPUHoistedCallsBase<LowerCalls> {
  void runOnOperation() override {
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) {
      if (call->hasAttr(callName))
        calls.push_back(call);
    });
    for (func::CallOp call : calls) {
      OpBuilder builder(call);
      auto created = debug::HostCallOp::create(builder, call.getLoc(), call.getResultTypes(), call.getOperands(),
                                               call.getCallee());
      call.replaceAllUsesWith(created.getResults());
      call.erase();
    }
    for (auto function : llvm::make_early_inc_range(deviceModule(getOperation()).getOps<func::FuncOp>()))
      if (auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
          type && type == declarationType && SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
        function.erase();
  }
};
} // namespace
