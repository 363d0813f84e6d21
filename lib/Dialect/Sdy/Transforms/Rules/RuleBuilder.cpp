//===- RuleBuilder.cpp - collects the factors of an op --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

using namespace mlir;
using namespace mlir::sdy;

RuleBuilder::RuleBuilder(Operation *op) : context(op->getContext()), operands(op->getNumOperands()) {
  auto append = [&](TypeRange types) {
    for (Type type : types) {
      auto shaped = dyn_cast<ShapedType>(type);
      shapes.emplace_back(shaped && shaped.hasRank() ? SmallVector<int64_t, 4>(shaped.getShape())
                                                     : SmallVector<int64_t, 4>());
      factors.emplace_back(shapes.back().size());
    }
  };
  append(op->getOperandTypes());
  append(op->getResultTypes());
}

RuleBuilder &RuleBuilder::add(ArrayRef<int64_t> dims, int64_t size, FactorType type) {
  // Nothing is split where there is nothing.
  size = std::max<int64_t>(size, 1);
  int64_t factor = sizes.size();
  bool isUsed = false;
  for (auto [tensor, dim] : llvm::enumerate(dims)) {
    // A factor of size 1 says nothing beside another, and stands for a dimension of size 1 alone.
    if (dim == kNone || (size == 1 && !factors[tensor][dim].empty()))
      continue;
    factors[tensor][dim].push_back(factor);
    isUsed = true;
  }
  if (isUsed) {
    sizes.push_back(size);
    types.push_back(type);
  }
  return *this;
}

RuleBuilder &RuleBuilder::addAt(ArrayRef<std::pair<int64_t, int64_t>> places, int64_t size, FactorType type) {
  SmallVector<int64_t> dims(shapes.size(), kNone);
  for (auto [tensor, dim] : places)
    if (tensor >= 0 && tensor < static_cast<int64_t>(dims.size()) && dim >= 0 &&
        dim < static_cast<int64_t>(shapes[tensor].size()))
      dims[tensor] = dim;
  return add(dims, size, type);
}

RuleBuilder &RuleBuilder::pointwise(ArrayRef<int64_t> shape,
                                    function_ref<std::optional<FactorType>(int64_t dim)> type) {
  SmallVector<int64_t> dims(shapes.size(), kNone);
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    for (auto [tensor, entry] : llvm::enumerate(shapes))
      dims[tensor] = entry.size() == shape.size() ? dim : kNone;
    if (std::optional<FactorType> factorType = type(dim))
      add(dims, shape[dim], *factorType);
  }
  return *this;
}

RuleBuilder &RuleBuilder::pointwise(ArrayRef<int64_t> shape) {
  return pointwise(shape, [](int64_t) { return kPassThrough; });
}

static OpShardingRuleAttr makeRule(MLIRContext *context, ArrayRef<int64_t> sizes,
                                   ArrayRef<SmallVector<SmallVector<int64_t, 2>, 4>> factors, unsigned operands,
                                   ArrayRef<FactorType> types) {
  SmallVector<TensorMappingAttr> mappings;
  for (const auto &tensor : factors)
    mappings.push_back(TensorMappingAttr::get(
        context, llvm::map_to_vector(tensor, [&](const auto &dim) { return DimMappingAttr::get(context, dim); })));
  auto ofKind = [&](auto &&isOfKind) {
    SmallVector<int64_t> found;
    for (auto [factor, type] : llvm::enumerate(types))
      if (isOfKind(type))
        found.push_back(factor);
    return found;
  };
  auto kind = [&](FactorKind kind) { return ofKind([=](FactorType type) { return type.kind == kind; }); };
  const ArrayRef<TensorMappingAttr> all(mappings);
  const SmallVector<int64_t> reduction = kind(FactorKind::Reduction), replication = kind(FactorKind::NeedReplication),
                             permutation = kind(FactorKind::Permutation),
                             blocked = ofKind([](FactorType type) { return type.isBlocked; });
  // A call whose operands have not the shapes that its name promises may give no rule.
  auto silent = [] { return InFlightDiagnostic(); };
  if (failed(OpShardingRuleAttr::verify(silent, sizes, all.take_front(operands), all.drop_front(operands), reduction,
                                        replication, permutation, blocked, /*is_custom_rule=*/false)))
    return {};
  return OpShardingRuleAttr::get(context, sizes, all.take_front(operands), all.drop_front(operands), reduction,
                                 replication, permutation, blocked, /*is_custom_rule=*/false);
}

OpShardingRuleAttr RuleBuilder::build() {
  for (auto &tensor : factors)
    for (auto &dim : tensor)
      if (dim.empty()) {
        dim.push_back(sizes.size());
        sizes.push_back(1);
        types.push_back(kPassThrough);
      }
  return makeRule(context, sizes, factors, operands, types);
}

OpShardingRuleAttr sdy::getIdentityRule(MLIRContext *context, ArrayRef<int64_t> shape, unsigned operands,
                                        unsigned results) {
  SmallVector<SmallVector<int64_t, 2>, 4> mapping;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    mapping.push_back({dim});
  SmallVector<SmallVector<SmallVector<int64_t, 2>, 4>> factors(operands + results, mapping);
  SmallVector<int64_t> sizes = llvm::map_to_vector(shape, [](int64_t size) { return std::max<int64_t>(size, 1); });
  return makeRule(context, sizes, factors, operands, SmallVector<FactorType>(shape.size()));
}
