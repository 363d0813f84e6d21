//===- Fusing.cpp - fusion of activations into TTNN ops -------------------===//

#include "Fusing.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNFUSING
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// How the ops that take activations name the elementwise op; nothing if they do not.
static std::optional<UnaryOpType> activationOf(Operation *op) {
  // What is no function of a float, or has parameters, is not among them.
  if (!op->hasTrait<trait::Elementwise>() || op->getNumOperands() != 1 || !op->getAttrs().empty() ||
      isa<TypecastOp, BitcastConvertOp, BitwiseNotOp, LogicalNotOp>(op))
    return std::nullopt;
  if (isa<ReciprocalOp>(op))
    return UnaryOpType::Recip;
  return symbolizeUnaryOpType(op->getName().stripDialect());
}

bool ttnn::takesActivation(Operation *op) {
  if (isa<MatmulOp, LinearOp>(op))
    return !op->hasAttr("activation") && !op->hasAttr("matmul_program_config");
  auto config = op->getAttrOfType<Conv2dConfigAttr>("conv2d_config");
  return isa<Conv2dOp, ConvTranspose2dOp>(op) && (!config || !config.getActivation());
}

void ttnn::forgetSource(Operation *op, Location loc) {
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp(); maker && maker->getLoc() == loc) {
      maker->setLoc(ttcore::withoutSourceNumber(loc));
      if (maker->getLoc() != loc)
        forgetSource(maker, loc);
    }
}

namespace {
struct Fusing : ttnn::impl::TTNNFusingBase<Fusing> {
  void runOnOperation() override {
    ttcore::ObservedSources observed(getOperation());
    bool changed = false;
    getOperation()->walk([&](Block *block) {
      // What is fused away comes before the op it is found at.
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (isa<MultiplyOp>(op))
          changed |= fuseGelu(&op, observed);
        else if (std::optional<UnaryOpType> activation = activationOf(&op))
          changed |= fuse(&op, *activation, observed);
      }
    });
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// The op before the activation and what only moves its result from there; empty if there is none that takes one.
  static SmallVector<Operation *> findProducer(Operation *activation, const ttcore::ObservedSources &observed) {
    SmallVector<Operation *> chain;
    for (Value value = activation->getOperand(0);; value = chain.back()->getOperand(0)) {
      Operation *op = value.getDefiningOp();
      if (!op || !value.hasOneUse() || observed.contains(op) || !isSameFloat(value, activation->getResult(0)))
        return {};
      chain.push_back(op);
      if (takesActivation(op))
        return chain;
      if (!isa<ReshapeOp, PermuteOp, TransposeOp>(op))
        return {};
    }
  }

  static bool isSameFloat(Value value, Value result) {
    TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType()), wanted = TTNNLayoutAttr::of(result.getType());
    return layout && wanted && layout.getDataType() == wanted.getDataType() &&
           isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
  }

  bool fuse(Operation *activation, UnaryOpType type, const ttcore::ObservedSources &observed) {
    SmallVector<Operation *> chain = findProducer(activation, observed);
    // The last op of the chain takes the activation's place, so it must give its very type.
    if (chain.empty() || chain.front()->getResult(0).getType() != activation->getResult(0).getType())
      return false;
    Operation *producer = chain.back();
    if (isa<MatmulOp, LinearOp>(producer))
      producer->setAttr("activation", StringAttr::get(&getContext(), activation->getName().stripDialect()));
    else
      producer->setAttr("conv2d_config",
                        withActivation(producer->getAttrOfType<Conv2dConfigAttr>("conv2d_config"), type));
    forgetSource(producer, producer->getLoc());
    for (Operation *op : chain)
      op->setLoc(activation->getLoc());
    activation->getResult(0).replaceAllUsesWith(chain.front()->getResult(0));
    activation->erase();
    return true;
  }

  Conv2dConfigAttr withActivation(Conv2dConfigAttr config, UnaryOpType type) {
    auto activation = UnaryWithParamAttr::get(&getContext(), type, {});
    if (!config)
      return Conv2dConfigAttr::get(&getContext(), std::nullopt, activation, {}, {}, std::nullopt, std::nullopt, {}, {},
                                   std::nullopt, {}, {}, std::nullopt, {}, {}, {}, {});
    return Conv2dConfigAttr::get(
        &getContext(), config.getWeightsDtype(), activation, config.getDeallocateActivation(),
        config.getReallocateHaloOutput(), config.getActBlockHOverride(), config.getActBlockWDiv(),
        config.getReshardIfNotOptimal(), config.getOverrideShardingConfig(), config.getShardLayout(),
        config.getCoreGrid(), config.getTransposeShards(), config.getOutputLayout(), config.getEnableActDoubleBuffer(),
        config.getEnableWeightsDoubleBuffer(), config.getEnableKernelStrideFolding(), config.getConfigTensorsInDram());
  }
};
} // namespace
