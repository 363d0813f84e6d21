//===- Apply.cpp - a choice as shardings and reshards ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Problem.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
using namespace mlir::tt::shlo::autosharding;

void Problem::apply(ArrayRef<unsigned> choice, Attribute meshOrRef) const {
  auto toAttribute = [&](const Dims &dims) {
    sdy::Sharding sharding = sdy::Sharding::open(meshOrRef, mesh, dims.size(), /*isClosed=*/true);
    for (auto [dim, axes] : llvm::zip(sharding.dims, dims))
      dim.axes = axes;
    return sdy::toAttribute(sharding);
  };
  DenseMap<std::pair<Value, Attribute>, Value> reshards;
  auto bring = [&](OpBuilder &builder, Value value, const Dims &from, const Dims &to) {
    if (from == to)
      return value;
    sdy::TensorShardingAttr target = toAttribute(to);
    Value &known = reshards[{value, target}];
    if (!known)
      known = sdy::ReshardOp::create(builder, value.getLoc(), value, target);
    return known;
  };

  DenseMap<Value, Dims> copies;
  for (auto [variable, chosen] : llvm::zip(variables, choice))
    if (variable.isCopy)
      copies[variable.value] = (*variable.candidates)[chosen].results[0];
  // The values that users take, and their split.
  DenseMap<Value, std::pair<Value, Dims>> values;
  for (auto [variable, chosen] : llvm::zip(variables, choice)) {
    const Candidate &candidate = (*variable.candidates)[chosen];
    if (variable.isArgument()) {
      if (!variable.value || !sdy::getStaticTensor(variable.value.getType()))
        continue;
      sdy::setShardingAttr(variable.value, toAttribute(candidate.results[0]));
      values[variable.value] = {variable.value, candidate.results[0]};
    }
    if (!variable.op)
      continue;
    OpBuilder builder(variable.op);
    for (auto [index, input] : llvm::enumerate(variable.inputs)) {
      auto source = values.find(input);
      if (source == values.end())
        continue;
      auto [value, dims] = source->second;
      const Dims &requested = candidate.operands[index];
      if (auto copy = copies.find(input); copy != copies.end() && dims != requested) {
        value = bring(builder, value, dims, copy->second);
        dims = copy->second;
      }
      value = bring(builder, value, dims, requested);
      if (index < variable.op->getNumOperands())
        variable.op->setOperand(index, value);
      else if (value != input)
        for (Region &region : variable.op->getRegions())
          replaceAllUsesInRegionWith(input, value, region);
    }
    builder.setInsertionPointAfter(variable.op);
    for (OpResult result : variable.op->getResults()) {
      if (!sdy::getStaticTensor(result.getType()) || !sdy::canHoldSharding(result))
        continue;
      const Dims &computed = candidate.results[result.getResultNumber()];
      Dims dims = candidate.given(result.getResultNumber());
      sdy::setShardingAttr(result, toAttribute(computed));
      values[result] = {bring(builder, result, computed, dims), dims};
    }
  }
  auto terminator = dyn_cast<func::ReturnOp>(function.front().getTerminator());
  if (!terminator)
    return;
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto source = values.find(operand.get());
    if (source == values.end())
      continue;
    auto [value, dims] = source->second;
    operand.set(value);
    if (!sdy::getResultShardingAttr(function, operand.getOperandNumber()))
      sdy::setResultShardingAttr(function, operand.getOperandNumber(), toAttribute(dims));
  }
}
