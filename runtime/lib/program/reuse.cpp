//===- reuse.cpp - reuse of the plan for other sizes ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A program with open sizes is planned for each set of sizes. Most of the work does not depend on sizes: kernels of ops
// whose operands keep their shapes, and constants that are computed from weights. Constants are identified by their
// computation, not by their values: the same op on the same constants.
//
//===----------------------------------------------------------------------===//

#include "binary/open.h"
#include "program/planner.h"

#include <algorithm>

namespace tt::runtime {

bool Planner::isSameConstant(uint32_t value) const { return isSame[created.rootOf[value]]; }

bool Planner::compare() const {
  if (!previous)
    return false;
  const Operation &now = operation(), &before = previous->program.operations[op];
  // Values whose descriptions do not depend on sizes have those of the file.
  const auto hasSameSpec = [&](uint32_t value) {
    const TensorSpec &spec = program.spec(value), &specBefore = previous->program.spec(value);
    return &spec == &specBefore || spec == specBefore;
  };
  const auto same = [&](uint32_t value) {
    if (value == absentOperand)
      return true;
    const bool isConstant = rootOf(value).home == Plan::Home::Constant;
    const bool wasConstant = previous->roots[previous->rootOf[value]].home == Plan::Home::Constant;
    return hasSameSpec(value) && isConstant == wasConstant &&
           (!isConstant || (isSameConstant(value) && created.viewBytes[value] == previous->viewBytes[value]));
  };
  return now.attributes.isCopyOf(before.attributes) && std::ranges::all_of(now.outs, hasSameSpec) &&
         std::ranges::all_of(now.ins, same);
}

std::shared_ptr<const ttnn::Kernel> Planner::kernelBefore() const {
  if (observed || !isAsBefore || std::ranges::binary_search(previous->deferred, op, {}, &Plan::Deferred::op))
    return nullptr;
  return previous->kernelOf[op];
}

bool Planner::mayBeEqual() const {
  const auto isConstant = [&](uint32_t in) { return in != absentOperand && rootOf(in).home == Plan::Home::Constant; };
  return !observed && operation().call == Operation::Call::None && std::ranges::none_of(operation().ins, isConstant) &&
         isReproducible();
}

std::optional<uint32_t> Planner::findEqual() const {
  constexpr size_t most = 16;
  if (newOps.empty() || !mayBeEqual())
    return std::nullopt;
  const auto specOf = [&](uint32_t value) { return value == absentOperand ? nullptr : program.values[value].spec; };
  const auto sameSpec = [&](uint32_t a, uint32_t b) { return specOf(a) == specOf(b); };
  const Operation &now = operation();
  for (size_t i = newOps.size(); i-- > 0 && newOps.size() - i <= most;) {
    const Operation &other = program.operations[newOps[i]];
    if (other.info == now.info && std::ranges::equal(now.ins, other.ins, sameSpec) &&
        std::ranges::equal(now.outs, other.outs, sameSpec) && areSame(now.attributes, other.attributes))
      return newOps[i];
  }
  return std::nullopt;
}

bool Planner::takeResults() {
  if (observed || !isAsBefore || operation().outs.empty())
    return false;
  const auto wasComputed = [&](uint32_t out) {
    return previous->rootOf[out] == out && previous->roots[out].home == Plan::Home::Constant;
  };
  if (!std::ranges::all_of(operation().outs, wasComputed))
    return false;
  // A called program may have sizes of its own.
  for (const uint32_t callee : operation().callees) {
    const Program &now = created.image.programs[callee], &before = previous->image.programs[callee];
    if (&now == &before)
      continue;
    for (uint32_t value = 0; value < now.values.size(); ++value)
      if (now.spec(value) != before.spec(value))
        return false;
    for (size_t i = 0; i < now.operations.size(); ++i)
      if (!now.operations[i].attributes.isCopyOf(before.operations[i].attributes))
        return false;
  }
  for (const uint32_t out : operation().outs) {
    created.roots[out].home = Plan::Home::Constant;
    created.roots[out].constant = previous->roots[out].constant;
    isSame[out] = true;
  }
  const auto memory = std::ranges::equal_range(previous->cachedMemory, op, {}, &Plan::CachedMemory::op);
  created.cachedMemory.insert(created.cachedMemory.end(), memory.begin(), memory.end());
  return true;
}

void Planner::restoreConstants() {
  for (const uint32_t in : operation().ins)
    if (in != absentOperand)
      restore(created.rootOf[in]);
}

void Planner::restore(uint32_t value) {
  Plan::Root &root = created.roots[value];
  const auto isGone = [&] {
    for (uint32_t shard = 0; shard < root.constant.size(); ++shard)
      if (!root.constant[shard] && (root.shards == 1 || created.chips.has(shard)))
        return true;
    return false;
  };
  if (!isSame[value] || !isGone())
    return;
  if (created.uses->computedBy[value] == opCount) {
    root.constant = knownArguments()[root.index].shards;
    root.constant.resize(root.shards, root.constant.front());
    return;
  }
  const uint32_t here = std::exchange(op, created.uses->computedBy[value]);
  const Operation &operation = this->operation();
  if (operation.call == Operation::Call::Cached) {
    evaluateCall();
  } else {
    restoreConstants();
    ttnn::OpCall call = program.call(operation);
    if (device->options().exact)
      call.exact = ttnn::Origin::Program;
    for (const uint32_t in : operation.ins)
      call.constantIns.push_back(in == absentOperand ? nullptr : constantBytes(in));
    call.constants = this;
    dispensable.clear();
    fold(*ttnn::makeKernel(*operation.info, call), call);
  }
  // Values that only this op reads are released again.
  for (const uint32_t in : operation.ins) {
    if (in == absentOperand)
      continue;
    const uint32_t other = created.rootOf[in];
    if (isSame[other] && lastUse[other] < here && !isRead[other])
      for (auto &shard : created.roots[other].constant)
        if (shard.use_count() != 0)
          shard.reset();
  }
  op = here;
}

} // namespace tt::runtime
