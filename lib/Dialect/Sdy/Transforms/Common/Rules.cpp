//===- Rules.cpp - factors of ops as sharding rules -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "Sharding.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::sdy;
using ::ttmlir::shapes::Factors;
using ::ttmlir::shapes::View;

static OpShardingRuleAttr toRule(MLIRContext *context, const Factors &factors) {
  SmallVector<TensorMappingAttr> mappings;
  for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor)
    mappings.push_back(TensorMappingAttr::get(
        context, llvm::map_to_vector(factors.dimensions(tensor), [&](const Factors::Dimension &dim) {
          return DimMappingAttr::get(context, ArrayRef<int64_t>(dim.data(), dim.size()));
        })));
  SmallVector<int64_t> sizes, reduction, replication, permutation, blocked;
  for (int64_t factor = 0; factor < static_cast<int64_t>(factors.size()); ++factor) {
    sizes.push_back(factors.sizeOf(factor));
    const FactorType type = factors.typeOf(factor);
    switch (type.kind) {
    case FactorKind::PassThrough:
      break;
    case FactorKind::Reduction:
      reduction.push_back(factor);
      break;
    case FactorKind::NeedReplication:
      replication.push_back(factor);
      break;
    case FactorKind::Permutation:
      permutation.push_back(factor);
      break;
    }
    if (type.isBlocked)
      blocked.push_back(factor);
  }
  const ArrayRef<TensorMappingAttr> all(mappings);
  const size_t operands = factors.numOperands();
  // A call whose operands lack the shapes that its name implies may have no rule.
  auto silent = [] { return InFlightDiagnostic(); };
  if (failed(OpShardingRuleAttr::verify(silent, sizes, all.take_front(operands), all.drop_front(operands), reduction,
                                        replication, permutation, blocked, /*is_custom_rule=*/false)))
    return {};
  return OpShardingRuleAttr::get(context, sizes, all.take_front(operands), all.drop_front(operands), reduction,
                                 replication, permutation, blocked, /*is_custom_rule=*/false);
}

OpShardingRuleAttr sdy::getIdentityRule(MLIRContext *context, ArrayRef<int64_t> shape, unsigned operands,
                                        unsigned results) {
  const View view(shape.data(), shape.size());
  const SmallVector<View> in(operands, view), out(results, view);
  Factors factors({in.data(), in.size()}, {out.data(), out.size()});
  return toRule(context, factors.pointwise(view).finish());
}

bool sdy::isElementwise(Operation *op) {
  if (auto bitcast = dyn_cast<stablehlo::BitcastConvertOp>(op))
    return cast<ShapedType>(bitcast.getOperand().getType()).getRank() ==
           cast<ShapedType>(bitcast->getResult(0).getType()).getRank();
  return tt::isPointwise(op);
}

OpShardingRuleAttr sdy::getShardingRule(Operation *op, FactorMode mode) {
  if (auto rule = op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr))
    return rule;
  if (op->getNumResults() == 0)
    return {};
  // Dynamic sizes have no factors; tokens and tuples have no dimensions.
  for (Type type : op->getResultTypes())
    if (!getStaticTensor(type))
      return {};
  for (Type type : op->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && (!shaped.hasRank() || !shaped.hasStaticShape()))
      return {};
  std::optional<Factors> factors = tt::getFactors(op, mode);
  return factors ? toRule(op->getContext(), *factors) : OpShardingRuleAttr();
}
