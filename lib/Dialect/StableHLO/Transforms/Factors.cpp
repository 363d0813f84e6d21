//===- Factors.cpp - whether an op can be computed in parts ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Factors.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

//===----------------------------------------------------------------------===//
// Dimensions that must be whole
//===----------------------------------------------------------------------===//

namespace {
/// The unsplit dimensions of each tensor of an op.
class Whole {
public:
  explicit Whole(Operation *op) : op(op), dims(op->getNumOperands() + op->getNumResults()) {}

  void operand(unsigned index, int64_t dim) { dims[index].push_back(dim); }
  void result(unsigned index, int64_t dim) { dims[op->getNumOperands() + index].push_back(dim); }
  /// Adds dimensions whose most significant factor is one along which a part needs other parts.
  void addFactors(const Factors &factors) {
    for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor)
      for (auto [dim, indices] : llvm::enumerate(factors.dimensions(tensor))) {
        const int64_t first = indices[0];
        const FactorKind kind = factors.typeOf(first).kind;
        if (factors.sizeOf(first) > 1 && (kind == FactorKind::NeedReplication || kind == FactorKind::Permutation))
          dims[tensor].push_back(static_cast<int64_t>(dim));
      }
  }
  /// Adds all dimensions from one on.
  void allOf(unsigned tensor, int64_t from = 0) {
    Type type = tensor < op->getNumOperands() ? op->getOperand(tensor).getType()
                                              : op->getResult(tensor - op->getNumOperands()).getType();
    if (auto ranked = dyn_cast<RankedTensorType>(type))
      llvm::append_range(dims[tensor], llvm::seq<int64_t>(from, std::max(from, ranked.getRank())));
  }
  SmallVector<SmallVector<int64_t>> take() { return std::move(dims); }

private:
  Operation *op;
  SmallVector<SmallVector<int64_t>> dims;
};
} // namespace

/// Whether parts of an op's results can be computed from parts of its operands. Nothing is known of a call without a
/// rule, nor of an op without factors.
static bool isComputedInParts(Operation *op, const std::optional<Factors> &factors) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    auto rule = call->getAttrOfType<sdy::OpShardingRuleAttr>("sdy.sharding_rule");
    return rule && (rule.getIsCustomRule() || stablehlo::isComputedInParts(call));
  }
  if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) || op->hasTrait<trait::ForwardsValues>() ||
      op->hasTrait<OpTrait::IsTerminator>())
    return true;
  return factors && !op->hasTrait<trait::DependsOnPlace>();
}

/// The leading dimensions along which JAX allows computing a call in parts, if it does: the call's rule has the other
/// ones as separate factors.
static std::optional<int64_t> numBatchDims(Operation *op) {
  auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto text = attributes ? attributes.getAs<StringAttr>("num_batch_dims") : StringAttr();
  int64_t count = 0;
  if (!text || text.getValue().getAsInteger(10, count) || count < 0)
    return std::nullopt;
  return count;
}

SmallVector<SmallVector<int64_t>> shlo::wholeDims(Operation *op) {
  Whole whole(op);
  if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return whole.take();
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto dims = convolution.getDimensionNumbers();
    for (int64_t dim : dims.getInputSpatialDimensions())
      whole.operand(0, dim);
    for (int64_t dim : dims.getKernelSpatialDimensions())
      whole.operand(1, dim);
    for (int64_t dim : dims.getOutputSpatialDimensions())
      whole.result(0, dim);
    // Several groups are one after another in the features.
    if (convolution.getBatchGroupCount() > 1) {
      whole.operand(0, dims.getInputBatchDimension());
      whole.operand(1, dims.getKernelOutputFeatureDimension());
      whole.result(0, dims.getOutputFeatureDimension());
    }
  } else if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    whole.result(0, static_cast<int64_t>(iota.getIotaDimension()));
  } else if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      whole.allOf(0);
  } else if (std::optional<int64_t> batch = numBatchDims(op); batch && isa<stablehlo::CustomCallOp>(op)) {
    for (unsigned i = 0; i < op->getNumOperands() + op->getNumResults(); ++i)
      whole.allOf(i, *batch);
  } else if (std::optional<Factors> factors = getFactors(op); !isComputedInParts(op, factors)) {
    for (unsigned i = 0; i < op->getNumOperands() + op->getNumResults(); ++i)
      whole.allOf(i);
  } else if (factors && !isa<stablehlo::CustomCallOp>(op)) {
    whole.addFactors(*factors);
  }
  return whole.take();
}

//===----------------------------------------------------------------------===//
// Factors of a rule
//===----------------------------------------------------------------------===//

namespace {
/// The number of more significant parts of an axis, and the number of its own.
struct Part {
  StringRef axis;
  int64_t before, size;
  bool operator==(const Part &) const = default;
};
} // namespace

/// Returns the axes that split each factor of a dimension; nothing if they do not fit the factors.
static std::optional<SmallVector<SmallVector<Part>>> factorAxes(sdy::DimensionShardingAttr dim,
                                                                sdy::DimMappingAttr mapping,
                                                                sdy::OpShardingRuleAttr rule, sdy::MeshAttr mesh) {
  SmallVector<Part> queue;
  for (sdy::AxisRefAttr axis : dim.getAxes()) {
    sdy::SubAxisInfoAttr sub = axis.getSubAxisInfo();
    if (int64_t size = sizeOf(axis, mesh); size > 1)
      queue.push_back({axis.getName(), sub ? sub.getPreSize() : 1, size});
  }
  SmallVector<SmallVector<Part>> result;
  for (auto [place, factor] : llvm::enumerate(mapping.getFactorIndices())) {
    SmallVector<Part> &parts = result.emplace_back();
    int64_t rest = rule.getFactorSizes()[factor];
    const bool last = place + 1 == mapping.getFactorIndices().size();
    while (!queue.empty() && (last || rest > 1)) {
      Part &front = queue.front();
      const int64_t taken = last ? front.size : std::gcd(rest, front.size);
      if (taken == 1 && !last)
        return std::nullopt;
      parts.push_back({front.axis, front.before, taken});
      rest /= std::max<int64_t>(taken, 1);
      front.before *= taken;
      front.size /= taken;
      if (front.size == 1)
        queue.erase(queue.begin());
    }
  }
  if (!queue.empty())
    return std::nullopt;
  return result;
}

LogicalResult shlo::checkFactors(Operation *op, ArrayRef<sdy::TensorShardingAttr> shardings, sdy::MeshAttr mesh) {
  auto rule = op->getAttrOfType<sdy::OpShardingRuleAttr>("sdy.sharding_rule");
  if (!rule)
    return success();
  StringRef hint = rule.getIsCustomRule() ? "; tensors of an op with a custom sharding rule are resharded by "
                                            "sdy.sharding_constraint only"
                                          : "; run sdy-insert-explicit-reshards first";
  SmallVector<std::optional<SmallVector<Part>>> known(rule.getFactorSizes().size());
  auto tensors =
      llvm::to_vector(llvm::concat<const sdy::TensorMappingAttr>(rule.getOperandMappings(), rule.getResultMappings()));
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    const bool isResult = index >= op->getNumOperands();
    auto where = [&] {
      return (isResult ? "result " : "operand ") + std::to_string(isResult ? index - op->getNumOperands() : index);
    };
    for (auto [dim, mapping] : llvm::enumerate(tensor.getDimMappings())) {
      SmallVector<SmallVector<Part>> factors(mapping.getFactorIndices().size());
      if (shardings[index] && dim < shardings[index].getDimShardings().size()) {
        auto found = factorAxes(shardings[index].getDimShardings()[dim], mapping, rule, mesh);
        if (!found)
          return op->emitOpError() << "cannot be computed in parts: " << where() << " is split by " << shardings[index]
                                   << ", which does not fit its sharding rule " << rule;
        factors = *found;
      }
      for (auto [factor, parts] : llvm::zip_equal(mapping.getFactorIndices(), factors)) {
        if (!parts.empty() && (llvm::is_contained(rule.getNeedReplicationFactors(), factor) ||
                               llvm::is_contained(rule.getPermutationFactors(), factor)))
          return op->emitOpError() << "cannot be computed in parts: " << where() << " is split along dimension " << dim
                                   << ", which each device needs whole, by " << shardings[index] << hint;
        if (known[factor] && *known[factor] != parts)
          return op->emitOpError() << "cannot be computed in parts: " << where() << ", of sharding "
                                   << (shardings[index] ? shardings[index] : sdy::TensorShardingAttr())
                                   << ", is not split as its other tensors along dimension " << dim << hint;
        known[factor] = parts;
      }
    }
  }
  return success();
}
