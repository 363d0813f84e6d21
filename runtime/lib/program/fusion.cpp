//===- fusion.cpp - fusion of elementwise chains --------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops whose results have the same number of elements, each using the result of another, become one step: a
// chunk passes through all of them before the next one is read. A result that nothing else uses needs no memory. The
// step replaces the last of them, so nothing between the first and the last may use one of their results, or write
// anything in place.
//
// After this, a product or convolution that the next step adds to another tensor adds it itself.
//
//===----------------------------------------------------------------------===//

#include "kernels/elementwise/residual.h"
#include "program/planner.h"

#include <algorithm>

namespace tt::runtime {

static constexpr uint32_t none = ~0u;

/// Lets products and convolutions add the residual that the next step adds to their result. operands: of the steps;
/// lists: new ones; extend(value, op): the value is needed at the op.
template <class Operands, class Extend>
static void fuseResiduals(Plan &created, const Program &program, std::vector<Operands> &operands,
                          std::deque<std::vector<uint32_t>> &lists, Extend extend) {
  std::vector<uint32_t> uses(program.values.size(), 0); // per root
  for (const Operands &step : operands)
    for (uint32_t in : step.ins)
      if (in != absentOperand)
        ++uses[created.rootOf[in]];
  for (uint32_t output : program.outputs)
    ++uses[created.rootOf[output]];
  size_t kept = 0;
  for (size_t s = 0; s < created.steps.size(); ++s, ++kept) {
    created.steps[kept] = created.steps[s];
    operands[kept] = operands[s];
    if (kept == 0)
      continue;
    const Plan::Step &before = created.steps[kept - 1];
    Plan::Step &step = created.steps[kept];
    const Operands &given = operands[kept - 1];
    if (!before.kernel || !step.kernel || created.kernelOf[before.op].get() != before.kernel ||
        before.devices != step.devices || given.outs.size() != 1 || operands[kept].ins.size() != 2 ||
        uses[given.outs.front()] != 1 || !program.operations[before.op].info->writes.empty())
      continue;
    const uint32_t result = given.outs.front();
    const auto &ins = operands[kept].ins;
    const auto isResult = [&](uint32_t in) {
      return created.rootOf[in] == result && program.spec(in).bytes() == program.spec(result).bytes();
    };
    const auto place = static_cast<size_t>(std::ranges::find_if(ins, isResult) - ins.begin());
    if (place == ins.size())
      continue;
    std::shared_ptr<const ttnn::Kernel> kernel =
        ttnn::addingResidual(created.kernelOf[before.op], given.ins.size(), *step.kernel, place);
    if (!kernel)
      continue;
    std::vector<uint32_t> all(given.ins.begin(), given.ins.end());
    all.push_back(ins[1 - place]);
    for (uint32_t in : all)
      if (in != absentOperand)
        extend(in, step.op);
    created.roots[result].home = Plan::Home::Unset;
    const auto first = static_cast<uint32_t>(created.chainOps.size());
    created.chainOps.push_back(before.op);
    if (!step.members)
      created.chainOps.push_back(step.op);
    for (uint32_t i = 0; i < step.members; ++i)
      created.chainOps.push_back(created.chainOps[step.firstMember + i]);
    step.firstMember = first;
    step.members = static_cast<uint32_t>(created.chainOps.size()) - first;
    step.kernel = kernel.get();
    created.kernels.push_back(std::move(kernel));
    const auto &ownIns = lists.emplace_back(std::move(all));
    operands[kept - 1] = {ownIns, operands[kept].outs};
    created.steps[kept - 1] = step;
    --kept;
  }
  created.steps.resize(kept);
  operands.resize(kept);
}

void Planner::fuseChains() {
  std::vector<Chain> chains = findChains();
  std::erase_if(chains, [](const Chain &chain) { return chain.steps.size() < 2; });
  const auto addResiduals = [&] {
    fuseResiduals(created, program, operands, ofChains, [&](uint32_t value, uint32_t at) { extend(value, at); });
  };
  if (chains.empty())
    return addResiduals();
  std::vector<uint32_t> uses(program.values.size(), 0), inner(program.values.size(), 0); // per root: of all, of a chain
  for (const Operands &step : operands)
    for (uint32_t in : step.ins)
      if (in != absentOperand)
        ++uses[created.rootOf[in]];
  std::vector<bool> isOutput(program.values.size(), false);
  for (uint32_t output : program.outputs)
    isOutput[created.rootOf[output]] = true;

  std::vector<bool> dropped(created.steps.size(), false);
  for (const Chain &chain : chains) {
    for (uint32_t s : chain.steps)
      for (uint32_t in : operands[s].ins)
        ++inner[created.rootOf[in]];
    const uint32_t last = chain.steps.back();
    const uint32_t at = created.steps[last].op;
    std::vector<uint32_t> ins, outs; // of all
    std::vector<ttnn::Link> links;
    std::vector<uint32_t> results; // per link
    Plan::Step step = created.steps[last];
    step.firstMember = static_cast<uint32_t>(created.chainOps.size());
    step.members = static_cast<uint32_t>(chain.steps.size());
    for (uint32_t s : chain.steps) {
      const uint32_t result = operands[s].outs.front();
      ttnn::Link link{created.steps[s].kernel, {}, isOutput[result] || uses[result] != inner[result]};
      for (uint32_t in : operands[s].ins) {
        const auto inner = std::ranges::find(results, created.rootOf[in]);
        if (inner != results.end()) {
          link.ins.push_back(~static_cast<int>(inner - results.begin()));
          continue;
        }
        auto place = std::ranges::find(ins, in);
        link.ins.push_back(static_cast<int>(place - ins.begin()));
        if (place == ins.end())
          ins.push_back(in);
        extend(in, at);
      }
      if (link.stored) {
        outs.push_back(result);
        created.roots[result].firstOp = at;
        extend(result, at);
      } else {
        created.roots[result].home = Plan::Home::Unset;
      }
      links.push_back(std::move(link));
      results.push_back(result);
      created.chainOps.push_back(created.steps[s].op);
      dropped[s] = s != last;
    }
    for (uint32_t s : chain.steps)
      for (uint32_t in : operands[s].ins)
        inner[created.rootOf[in]] = 0;
    auto kernel = chainKernel(at, links);
    step.kernel = kernel.get();
    created.chains.push_back({at, std::move(links), std::move(kernel)});
    created.steps[last] = step;
    const auto &ownIns = ofChains.emplace_back(std::move(ins)), &ownOuts = ofChains.emplace_back(std::move(outs));
    operands[last] = {ownIns, ownOuts};
  }
  size_t kept = 0;
  for (size_t s = 0; s < created.steps.size(); ++s) {
    if (dropped[s])
      continue;
    if (kept != s) {
      created.steps[kept] = created.steps[s];
      operands[kept] = operands[s];
    }
    ++kept;
  }
  created.steps.resize(kept);
  operands.resize(kept);
  addResiduals();
}

std::shared_ptr<const ttnn::Kernel> Planner::chainKernel(uint32_t at, const std::vector<ttnn::Link> &links) const {
  constexpr size_t most = 4; // equal layers have few different chains
  const auto isEqual = [&](const Plan::ChainKernel &chain) {
    return std::ranges::equal(chain.links, links, [](const ttnn::Link &a, const ttnn::Link &b) {
      return a.kernel == b.kernel && a.stored == b.stored && a.ins == b.ins;
    });
  };
  if (previous) {
    const auto before = std::ranges::find(previous->chains, at, &Plan::ChainKernel::op);
    if (before != previous->chains.end() && isEqual(*before))
      return before->kernel;
  }
  for (size_t i = created.chains.size(); i-- > 0 && created.chains.size() - i <= most;)
    if (isEqual(created.chains[i]))
      return created.chains[i].kernel;
  return ttnn::chainOf(links);
}

std::vector<Planner::Chain> Planner::findChains() const {
  std::vector<Chain> chains;
  std::vector<uint32_t> chainOf(program.values.size(), none); // per root: the chain that gives it
  for (uint32_t s = 0; s < created.steps.size(); ++s) {
    const Plan::Step &step = created.steps[s];
    if (!program.operations[step.op].info->writes.empty())
      for (Chain &chain : chains)
        chain.open = false;
    const bool link = step.kernel && operands[s].outs.size() == 1 && ttnn::isChainable(*step.kernel);
    const size_t elements = link ? ttnn::chainElements(*step.kernel) : 0;
    const size_t slots = link ? ttnn::chainSlots(*step.kernel) : 0;
    // A user of a result that does not join its chain ends the chain. So does a user of a part of a result, even if
    // another link of the same chain uses the whole.
    const auto chainBefore = [&](uint32_t in) { return in == absentOperand ? none : chainOf[created.rootOf[in]]; };
    for (uint32_t in : operands[s].ins)
      if (const uint32_t other = chainBefore(in);
          other != none && program.spec(in).bytes() != program.spec(created.rootOf[in]).bytes())
        chains[other].open = false;
    uint32_t mine = none;
    for (uint32_t in : operands[s].ins) {
      const uint32_t other = chainBefore(in);
      if (other == none || other == mine || !chains[other].open)
        continue;
      Chain &chain = chains[other];
      const size_t with = chain.slots + (mine == none ? slots : chains[mine].slots);
      if (!link || chain.elements != elements || chain.devices != step.devices || with > ttnn::maxChainSlots) {
        chain.open = false;
      } else if (mine == none) {
        mine = other;
        chain.slots += slots;
      } else {
        for (uint32_t moved : chain.steps) {
          chains[mine].steps.push_back(moved);
          chainOf[operands[moved].outs.front()] = mine;
        }
        std::ranges::sort(chains[mine].steps);
        chains[mine].slots += chain.slots;
        chain.steps.clear();
        chain.open = false;
      }
    }
    if (!link)
      continue;
    if (mine == none || !chains[mine].open) {
      mine = static_cast<uint32_t>(chains.size());
      chains.push_back({{}, elements, step.devices, slots, true});
    }
    chains[mine].steps.push_back(s);
    chainOf[operands[s].outs.front()] = mine;
  }
  return chains;
}

} // namespace tt::runtime
