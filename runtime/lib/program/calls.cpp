//===- calls.cpp - calls of programs that run once ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/call_key.h"
#include "program/executable.h"
#include "program/planner.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tt::runtime {

static bool haveOneOwner(const std::shared_ptr<const std::byte> &a, const std::shared_ptr<const std::byte> &b) {
  return a && b && !a.owner_before(b) && !b.owner_before(a);
}

/// Represents the values of a result without reading them.
static Identity identityOfResult(const Identity &call, uint32_t index, uint32_t shard, size_t bytes) {
  const uint64_t words[] = {call.low, call.high, index, shard};
  Identity identity = identityOf(std::as_bytes(std::span(words)));
  identity.bytes = bytes;
  return identity;
}

/// Runs the program that the op names, once, and keeps its results.
void Planner::planCall() {
  const Operation &operation = this->operation();
  for (uint32_t out : operation.outs) {
    const auto groups = created.memory.groups.size();
    if (isAsBefore)
      repeatGroup(out);
    else
      addGroup(resultOf(out), op, sim::footprint(chip, program.spec(out)));
    if (created.memory.groups.size() > groups)
      created.memory.groups.back().cached = true;
  }
  if (observed) {
    // Hooks see every op of every run.
    created.callees[op] = {makePlan(created.image, operation.callees[0], device, created.mode)};
    return;
  }
  if (created.mode == Mode::Estimated || takeResults())
    return;
  // At their first use, so that not all weights of a model are there before the first product has its form of one;
  // now, if an operand may be let go before.
  if (!std::ranges::all_of(operation.ins, [&](uint32_t in) { return lastUse[created.rootOf[in]] == op; })) {
    evaluateCall();
    return;
  }
  for (uint32_t out : operation.outs)
    isPending[out] = true;
}

void Planner::evaluatePending(uint32_t value) {
  if (!isPending[value])
    return;
  const uint32_t here = std::exchange(op, created.uses->computedBy[value]);
  for (uint32_t out : operation().outs)
    isPending[out] = false;
  located([&] { evaluateCall(); });
  // Values that only the call reads are let go.
  releaseConstants();
  op = here;
}

void Planner::evaluatePending() {
  for (uint32_t in : operation().ins)
    if (in != absentOperand)
      evaluatePending(created.rootOf[in]);
}

void Planner::evaluateCall() {
  const Operation &operation = this->operation();
  restoreConstants();
  std::erase_if(created.cachedMemory, [&](const Plan::CachedMemory &memory) { return memory.op == op; });
  std::vector<Argument> given;
  for (size_t i = 0; i < operation.ins.size(); ++i)
    given.push_back(argumentOf(operation.ins[i], i));
  const auto count = static_cast<uint32_t>(operation.outs.size());
  const std::optional<Identity> identity = identityOfCall(given);
  std::vector<CallResults::Result> known(count);
  std::vector<bool> isKnown(count, identity.has_value()); // the values of each result
  bool hasMemory = identity.has_value();
  for (uint32_t i = 0; i < count && identity; ++i) {
    known[i] = CallResults::ofProcess().find(*identity, i, *device);
    const Plan::Root &root = created.roots[operation.outs[i]];
    known[i].values.resize(root.shards);
    for (uint32_t shard = root.first; shard < root.last(); ++shard)
      isKnown[i] = isKnown[i] && known[i].values[shard];
    hasMemory = hasMemory && (known[i].allocation || groupOf[operation.outs[i]] == MemoryPlan::none);
  }
  bool hasValues = identity && std::ranges::all_of(isKnown, std::identity());
  if (const auto &partition = device->partition(); partition && program.devices() > 1) {
    const std::string what = "results of calls that " + created.name() + " shares with other programs";
    hasValues = partition->ranks().all(hasValues, what);
    hasMemory = partition->ranks().all(hasMemory, what);
  }
  Results results;
  if (!hasValues || !hasMemory)
    results = Executable(makePlan(created.image, operation.callees[0], device, created.mode, {}, given), device)
                  .evaluate(given, /*isOnDevice=*/!hasMemory);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t value = operation.outs[i];
    Plan::Root &root = created.roots[value];
    root.home = Plan::Home::Constant;
    if (isKnown[i]) {
      root.constant = std::move(known[i].values);
      taken.insert(taken.end(), root.constant.begin(), root.constant.end());
    } else {
      root.constant.assign(results.shards[i].begin(), results.shards[i].end());
      shareEqual(root.constant, program.spec(value).bytes());
    }
    if (!hasValues || !hasMemory)
      results.shards[i].clear();
    for (uint32_t shard = 0; shard < root.shards && identity; ++shard)
      created.identities[{value, shard, 0, program.spec(value).bytes()}] =
          identityOfResult(*identity, i, shard, program.spec(value).bytes());
    if (groupOf[value] != MemoryPlan::none)
      created.cachedMemory.insert(
          std::ranges::upper_bound(created.cachedMemory, op, {}, &Plan::CachedMemory::op),
          {op, hasMemory ? std::move(known[i].allocation)
                         : std::make_shared<const sim::Allocation>(std::move(results.allocations[i]))});
  }
  if (!identity)
    return;
  // Values of an argument can be written by its owner, and this program alone knows of it.
  bool areOwn = true;
  for (const uint32_t out : operation.outs)
    for (const auto &shard : created.roots[out].constant)
      for (const Argument &argument : given)
        areOwn =
            areOwn && std::ranges::none_of(argument.shards, [&](const auto &of) { return haveOneOwner(shard, of); });
  calls[op] = {*identity, areOwn};
}

std::optional<Identity> Planner::identityOfCall(std::span<const Argument> given) const {
  const Operation &operation = this->operation();
  const Program &callee = created.image.programs[operation.callees[0]];
  const auto computesTheSame = [](const Operation &each) {
    return !each.info->draws && !each.info->effects && each.info->writes.empty();
  };
  if (!std::ranges::all_of(callee.operations, computesTheSame) ||
      std::ranges::any_of(operation.outs, [&](uint32_t out) { return created.written[out]; }))
    return std::nullopt;
  ttnn::CallKey key([](std::span<const std::byte> values) {
    const Identity identity = runtime::identityOf(values);
    return std::array<uint64_t, 2>{identity.low, identity.high};
  });
  const auto add = [&](const Identity &identity) {
    key.add(identity.low);
    key.add(identity.high);
    key.add(identity.bytes);
  };
  key.add(chip.arch);
  key.add(device->options().exact);
  key.add(callee.meshShape);
  key.add(created.chips.first);
  key.add(created.chips.last);
  key.add(callee.values.size());
  for (const Value &value : callee.values)
    key.add(*value.spec);
  key.add(callee.inputs);
  key.add(callee.outputs);
  for (const Operation &each : callee.operations) {
    key.add(each.info);
    key.add(each.ins);
    key.add(each.outs);
    key.add(each.attributes);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const uint32_t value = operation.ins[i], from = created.rootOf[value], by = created.uses->computedBy[from];
    const size_t bytes = program.spec(value).bytes();
    if (const auto call = calls.find(by); call != calls.end()) {
      const auto index = static_cast<uint32_t>(std::ranges::find(program.operations[by].outs, from) -
                                               program.operations[by].outs.begin());
      key.add(created.viewBytes[value]);
      add(identityOfResult(call->second.identity, index, 0, bytes));
      continue;
    }
    const std::byte *last = nullptr; // devices may have the same ones
    Identity identity;
    for (uint32_t shard = 0; shard < given[i].shards.size(); ++shard) {
      const std::byte *const values = given[i].shards[shard].get();
      if (values && values != std::exchange(last, values)) {
        // Many calls may have one large argument.
        const auto kept = identityOf(Constant{from, shard, created.viewBytes[value], bytes}, values);
        identity = kept ? *kept : runtime::identityOf({values, bytes});
      }
      add(values ? identity : Identity());
    }
  }
  return runtime::identityOf(std::as_bytes(key.value()));
}

void Planner::shareResults() const {
  for (const auto &[at, call] : calls) {
    auto memory = std::ranges::lower_bound(created.cachedMemory, at, {}, &Plan::CachedMemory::op);
    const std::vector<uint32_t> &outs = program.operations[at].outs;
    for (uint32_t i = 0; i < outs.size(); ++i) {
      CallResults::Result result{call.areOwn ? created.roots[outs[i]].constant : Shards(), nullptr};
      if (created.groupOf[outs[i]] != MemoryPlan::none)
        result.allocation = (memory++)->allocation;
      CallResults::ofProcess().keep(call.identity, i, *device, result);
    }
  }
}

} // namespace tt::runtime
