//===- Passes.cpp - passes of propagation ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Graph.h"

#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYPOPULATEOPSHARDINGRULES
#define GEN_PASS_DEF_SDYBASICPROPAGATE
#define GEN_PASS_DEF_SDYAGGRESSIVEPROPAGATE
#define GEN_PASS_DEF_SDYOPPRIORITYPROPAGATE
#define GEN_PASS_DEF_SDYUSERPRIORITYPROPAGATE
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
struct PopulateOpShardingRules : sdy::impl::SdyPopulateOpShardingRulesBase<PopulateOpShardingRules> {
  using Base::Base;
  void runOnOperation() override {
    populateShardingRules(getOperation(), isConservative ? FactorMode::Conservative : FactorMode::Full);
  }
};

/// Each pass keeps the order of the previous one within its own.
template <typename Base, bool usesOpPriorities, bool usesUserPriorities> struct Propagate : Base {
  using Base::Base;

  void runOnOperation() override {
    PropagationOptions options;
    options.strategy = PropagationStrategy::Basic;
    if constexpr (requires { this->strategy; })
      options.strategy = this->strategy;
    options.isConservative = this->isConservative;
    options.exchangesEdges = this->enableHaloExchange;
    options.usesOpPriorities = usesOpPriorities;
    options.usesUserPriorities = usesUserPriorities;
    Graph graph(this->getOperation(), options);
    graph.propagate();
    graph.writeBack();
    if (this->keepsShardingRules)
      populateShardingRules(this->getOperation(), options.mode());
    else
      dropShardingRules(this->getOperation());
  }
};

struct BasicPropagate : Propagate<sdy::impl::SdyBasicPropagateBase<BasicPropagate>, false, false> {
  using Propagate::Propagate;
};
struct AggressivePropagate : Propagate<sdy::impl::SdyAggressivePropagateBase<AggressivePropagate>, false, false> {
  using Propagate::Propagate;
};
struct OpPriorityPropagate : Propagate<sdy::impl::SdyOpPriorityPropagateBase<OpPriorityPropagate>, true, false> {
  using Propagate::Propagate;
};
struct UserPriorityPropagate : Propagate<sdy::impl::SdyUserPriorityPropagateBase<UserPriorityPropagate>, true, true> {
  using Propagate::Propagate;
};
} // namespace
