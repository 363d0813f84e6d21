//===- Fusing.cpp - fusion of activations into TTNN ops -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReciprocalOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNFUSING
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The name of the elementwise op in ops that take activations; nothing if they do not take it.
static std::optional<UnaryOpType> activationOf(Operation *op) {
  // Functions that are not functions of a float, or that have parameters, are not among them.
  auto isParameter = [&](NamedAttribute each) { return isInherent(op->getName(), each.getName()); };
  if (!op->hasTrait<trait::Elementwise>() || op->getNumOperands() != 1 || llvm::any_of(op->getAttrs(), isParameter) ||
      op->hasTrait<trait::ReadsBits>() || op->hasTrait<trait::ComputesTruth>() || isa<TypecastOp>(op))
    return std::nullopt;
  if (isa<ReciprocalOp>(op))
    return UnaryOpType::Recip;
  return symbolizeUnaryOpType(op->getName().stripDialect());
}

bool ttnn::takesActivation(Operation *op) {
  auto isFree = [](auto op) { return !op.getActivation() && !op.getMatmulProgramConfig(); };
  auto isFreeConv = [](auto op) { return !op.getConv2dConfigAttr() || !op.getConv2dConfigAttr().getActivation(); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MatmulOp, LinearOp>(isFree)
      .Case<Conv2dOp, ConvTranspose2dOp>(isFreeConv)
      .Default(false);
}

void ttnn::setLocation(RewriterBase &rewriter, Operation *op, Location loc) {
  rewriter.modifyOpInPlace(op, [&] {
    Location before = op->getLoc();
    op->setLoc(loc);
    ttcore::recordMerged(before, op);
  });
}

void ttnn::forgetSource(RewriterBase &rewriter, Operation *op, Location loc) {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp(); producer && producer->getLoc() == loc) {
      setLocation(rewriter, producer, ttcore::withoutSourceNumber(loc));
      if (producer->getLoc() != loc)
        forgetSource(rewriter, producer, loc);
    }
}

static bool isSameFloat(Value value, Value result) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType()), expected = TTNNLayoutAttr::of(result.getType());
  return layout && expected && layout.getDataType() == expected.getDataType() &&
         isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
}

static Conv2dConfigAttr withActivation(Conv2dConfigAttr config, UnaryWithParamAttr activation) {
  if (!config)
    return Conv2dConfigAttr::get(activation.getContext(), std::nullopt, activation, {}, {}, std::nullopt, std::nullopt,
                                 {}, {}, std::nullopt, {}, {}, std::nullopt, {}, {}, {}, {});
  return Conv2dConfigAttr::get(
      activation.getContext(), config.getWeightsDtype(), activation, config.getDeallocateActivation(),
      config.getReallocateHaloOutput(), config.getActBlockHOverride(), config.getActBlockWDiv(),
      config.getReshardIfNotOptimal(), config.getOverrideShardingConfig(), config.getShardLayout(),
      config.getCoreGrid(), config.getTransposeShards(), config.getOutputLayout(), config.getEnableActDoubleBuffer(),
      config.getEnableWeightsDoubleBuffer(), config.getEnableKernelStrideFolding(), config.getConfigTensorsInDram());
}

namespace {
/// An activation that the previous op can compute. For a pattern of a trait, the driver first visits every registered
/// op, 0.4 ms a run: this one matches any op.
struct FuseActivation : RewritePattern {
  FuseActivation(MLIRContext *context, ttcore::FusionState &state)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), state(state) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<UnaryOpType> type = activationOf(op);
    if (!type)
      return rewriter.notifyMatchFailure(op, "is no activation");
    SmallVector<Operation *> chain = findProducer(op);
    // The last op of the chain replaces the activation, so it must produce exactly its type.
    if (chain.empty() || chain.front()->getResult(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "nothing before it takes an activation");
    Operation *producer = chain.back();
    rewriter.modifyOpInPlace(producer, [&] { setActivation(producer, op->getName().stripDialect(), *type); });
    forgetSource(rewriter, producer, producer->getLoc());
    for (Operation *moved : chain)
      setLocation(rewriter, moved, op->getLoc());
    rewriter.replaceOp(op, chain.front());
    return success();
  }

private:
  /// The op before the activation, and the ops in between that only move its result; empty if no op takes an
  /// activation.
  SmallVector<Operation *> findProducer(Operation *activation) const {
    SmallVector<Operation *> chain;
    for (Value value = activation->getOperand(0);; value = chain.back()->getOperand(0)) {
      Operation *op = value.getDefiningOp();
      if (!op || !state.isDroppable(op, value) || !isSameFloat(value, activation->getResult(0)))
        return {};
      chain.push_back(op);
      if (takesActivation(op))
        return ttcore::mayJoin(activation, op) ? chain : SmallVector<Operation *>();
      if (!op->hasTrait<trait::Rearranges>())
        return {};
    }
  }

  static void setActivation(Operation *producer, StringRef name, UnaryOpType type) {
    MLIRContext *context = producer->getContext();
    auto config = UnaryWithParamAttr::get(context, type, {});
    llvm::TypeSwitch<Operation *>(producer)
        .Case<MatmulOp, LinearOp>([&](auto op) { op.setActivation(name); })
        .Case<Conv2dOp, ConvTranspose2dOp>(
            [&](auto op) { op.setConv2dConfigAttr(withActivation(op.getConv2dConfigAttr(), config)); });
  }

  ttcore::FusionState &state;
};

struct Fusing : ttnn::impl::TTNNFusingBase<Fusing> {
  using Base::Base;

  void runOnOperation() override {
    ttcore::FusionState state(getOperation());
    RewritePatternSet patterns(&getContext());
    populateActivationFusions(patterns, state);
    populateGeluFusions(patterns, state);
    if (enableRoPEFusion)
      populateRopeFusions(patterns, state);
    state.apply(getOperation(), std::move(patterns));
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace

void ttnn::populateActivationFusions(RewritePatternSet &patterns, ttcore::FusionState &state) {
  patterns.add<FuseActivation>(patterns.getContext(), state);
}
