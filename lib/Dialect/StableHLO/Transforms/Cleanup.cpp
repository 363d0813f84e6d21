//===- Cleanup.cpp - tuples, constants and users' rules -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Xla.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_DECOMPOSECUSTOMCALLTUPLES
#define GEN_PASS_DEF_DECOUPLECONSTFANOUT
#define GEN_PASS_DEF_REGISTERUSERSHARDINGRULE
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
struct DecomposeCustomCallTuples : shlo::impl::DecomposeCustomCallTuplesBase<DecomposeCustomCallTuples> {
  void runOnOperation() override {
    SmallVector<stablehlo::GetTupleElementOp> elements;
    SmallVector<stablehlo::TupleOp> tuples;
    SmallVector<stablehlo::CustomCallOp> calls;
    getOperation()->walk([&](Operation *op) {
      if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
          call && call.getNumResults() == 1 && isa<TupleType>(call.getResult(0).getType()))
        calls.push_back(call);
      else if (auto element = dyn_cast<stablehlo::GetTupleElementOp>(op))
        elements.push_back(element);
      else if (auto tuple = dyn_cast<stablehlo::TupleOp>(op))
        tuples.push_back(tuple);
    });
    for (stablehlo::CustomCallOp call : calls)
      if (stablehlo::TupleOp tuple = split(call))
        tuples.push_back(tuple);
    for (stablehlo::GetTupleElementOp element : elements)
      if (auto tuple = element->getOperand(0).getDefiningOp<stablehlo::TupleOp>()) {
        element->getResult(0).replaceAllUsesWith(tuple->getOperand(element.getIndex()));
        element.erase();
      }
    // Tuples of tuples: outer ones first.
    for (stablehlo::TupleOp tuple : llvm::reverse(tuples))
      if (tuple->use_empty())
        tuple.erase();
  }

private:
  /// The tuple of the results of a call with separate results, which replaces a call with a tuple as its result; null
  /// if more than elements of it are used.
  static stablehlo::TupleOp split(stablehlo::CustomCallOp call) {
    auto type = cast<TupleType>(call.getResult(0).getType());
    if (!llvm::all_of(call->getUsers(), llvm::IsaPred<stablehlo::GetTupleElementOp>) ||
        llvm::any_of(type.getTypes(), llvm::IsaPred<TupleType>) || call->hasAttr("result_layouts"))
      return {};
    OpBuilder builder(call);
    OperationState state(call.getLoc(), call->getName(), call->getOperands(), type.getTypes(), call->getAttrs());
    // These attributes describe the tuple as one result.
    for (StringRef name : {"sdy.sharding", "sdy.sharding_rule"})
      state.attributes.erase(name);
    Operation *created = builder.create(state);
    auto tuple = stablehlo::TupleOp::create(builder, call.getLoc(), type, created->getResults());
    call.getResult(0).replaceAllUsesWith(tuple);
    call.erase();
    return tuple;
  }
};

struct DecoupleConstFanout : shlo::impl::DecoupleConstFanoutBase<DecoupleConstFanout> {
  void runOnOperation() override {
    FailureOr<sdy::MeshOp> mesh = shlo::findMesh(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    if (!*mesh)
      return markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || llvm::none_of(function.getArguments(), [&](BlockArgument argument) {
            return isSplit(shardingOf(argument), mesh->getMesh());
          }))
        continue;
      SmallVector<stablehlo::BroadcastInDimOp> broadcasts;
      function.walk([&](stablehlo::BroadcastInDimOp op) {
        if (op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>())
          broadcasts.push_back(op);
      });
      for (stablehlo::BroadcastInDimOp op : broadcasts)
        for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getResult(0).getUses()))) {
          OpBuilder builder(op);
          use.set(builder.clone(*op)->getResult(0));
        }
    }
  }
};

struct RegisterUserShardingRule : shlo::impl::RegisterUserShardingRuleBase<RegisterUserShardingRule> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](stablehlo::CustomCallOp call) {
      auto frontend = call->getAttrOfType<DictionaryAttr>(frontendName);
      auto text = frontend ? frontend.getAs<StringAttr>(xlaRuleName) : StringAttr();
      if (!text || text.empty())
        return WalkResult::advance();
      Attribute attr = parseText(call, xlaRuleName, text.getValue());
      if (!attr)
        return WalkResult::interrupt();
      auto rule = dyn_cast<sdy::OpShardingRuleAttr>(attr);
      if (!rule) {
        call.emitOpError() << xlaRuleName << " is " << attr << "; expected #sdy.op_sharding_rule";
        return WalkResult::interrupt();
      }
      // The mark of a custom rule would keep reshards away from the call.
      call->setAttr("sdy.sharding_rule",
                    sdy::OpShardingRuleAttr::get(call.getContext(), rule.getFactorSizes(), rule.getOperandMappings(),
                                                 rule.getResultMappings(), rule.getReductionFactors(),
                                                 rule.getNeedReplicationFactors(), rule.getPermutationFactors(),
                                                 rule.getBlockedPropagationFactors(), /*isCustomRule=*/false));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
