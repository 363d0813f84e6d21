//===- GreedyMemoryLayoutPropagation.cpp - layouts by estimated time ------===//
// SPDX-License-Identifier: Apache-2.0

#include "DecisionTrace.h"
#include "LegalLayouts.h"
#include "MatmulConfigs.h"
#include "Overrides.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToMemoryConfigOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>
#include <map>

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNGREEDYMEMORYLAYOUTPROPAGATION
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::Times;

static StringRef textOf(::ttmlir::cost::Bound bound) {
  std::string_view name = ::ttmlir::cost::boundName(bound);
  return {name.data(), name.size()};
}

static constexpr double never = std::numeric_limits<double>::infinity();

namespace {
/// Layouts of the results of an op, and the cheapest way to produce them.
struct Candidate {
  SmallVector<TTNNLayoutAttr, 1> layouts;
  SmallVector<PlacedTensor, 1> outs;
  int64_t l1Bytes = 0;           // of results, per core
  double ownNs = 0;              // of the op, with operands as `from` says
  double pathNs = never;         // with its share of what leads to it
  SmallVector<unsigned, 4> from; // candidates of the producers of tensor operands
  std::string refused;
};

struct Node {
  Operation *op = nullptr;
  SmallVector<Candidate, 5> candidates;
  unsigned chosen = 0;
  double users = 1; // at least 1
  std::string reason;
  // For the ops whose results it reads, by `countWork`: its tensors with their chosen placements, their positions among
  // the tensor operands by operand, and the total cost.
  OpTensors tensors;
  SmallVector<unsigned, 4> places;
  ::ttmlir::cost::Work work;
};

/// Changes of layout that are requested before ops, by name and operand: null if one was inserted, else the obstacle.
using Reconfigurations = std::map<std::pair<StringRef, int64_t>, std::optional<std::pair<Operation *, std::string>>>;

/// The chain of decisions of a function: layouts are chosen op by op in program order, each with the cheapest layouts
/// of its operands, and settled from the end.
class Propagation {
public:
  struct Settings {
    bool sharded, moves;
    int64_t mostLayouts, beam, mostInputs;
    double l1Share;
  };

  Propagation(func::FuncOp function, ttcore::ChipDescAttr chip, const Settings &settings, const Overrides &overrides,
              Reconfigurations &reconfigurations)
      : function(function), memory(chip), cost(chip), settings(settings), overrides(overrides),
        reconfigurations(reconfigurations) {}

  LogicalResult run() {
    for (Operation &op : function.getBody().front().without_terminator())
      if (failed(propagate(&op)))
        return failure();
    for (Node &node : llvm::reverse(nodes))
      settle(node);
    for (Node &node : nodes)
      apply(node);
    return success();
  }

  llvm::json::Object trace(StringRef arch);

private:
  LogicalResult propagate(Operation *op);
  void reach(Node &node, Candidate &candidate);
  void settle(Node &node);
  void apply(Node &node);
  TTNNLayoutAttr targetLayout(Operation *op, unsigned index, Value operand, ArrayRef<TTNNLayoutAttr> results) const;

  const Node *producerOf(Value value) const {
    auto found = value.getDefiningOp() ? numbers.find(value.getDefiningOp()) : numbers.end();
    return found == numbers.end() ? nullptr : &nodes[found->second];
  }
  static PlacedTensor placedOf(const Node &producer, unsigned candidate, Value value) {
    return producer.candidates[candidate].outs[cast<OpResult>(value).getResultNumber()];
  }
  /// Counts the work of an op with its chosen operands, once for all calls of `timeWith`.
  void countWork(Node &user) const;
  /// The time of an op whose operand tensors at these positions, all one value, have this placement, and the time to
  /// convert them to the layouts that the op takes.
  double timeWith(const Node &user, ArrayRef<unsigned> places, Value value, const PlacedTensor &operand) const;
  static SmallVector<Value, 4> tensorsOf(Operation *op) {
    return llvm::filter_to_vector<4>(op->getOperands(),
                                     [](Value value) { return isa<RankedTensorType>(value.getType()); });
  }

  func::FuncOp function;
  ChipMemory memory;
  OpCost cost;
  Settings settings;
  const Overrides &overrides;
  Reconfigurations &reconfigurations;
  std::vector<Node> nodes;
  DenseMap<Operation *, size_t> numbers;
  double dramNs = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Forwards
//===----------------------------------------------------------------------===//

/// The layouts of an operand that an op takes, if it does not take the operand's own.
TTNNLayoutAttr Propagation::targetLayout(Operation *op, unsigned index, Value operand,
                                         ArrayRef<TTNNLayoutAttr> results) const {
  auto type = cast<RankedTensorType>(operand.getType());
  TTNNLayoutAttr plain = TTNNLayoutAttr::get(op->getContext(), type.getShape(), TTNNLayoutAttr::of(type).getDataType(),
                                             Layout::Tile, BufferType::DRAM, TTNNLayoutAttr::of(type).getTensorMesh());
  if (familyOf(op) == Family::Attention)
    return plain;
  if (!results.empty() && results[0].isSharded() && isTiledInDram(plain))
    if (TTNNLayoutAttr created = shardedInL1(type, plain, results[0].getMemLayout().getValue(),
                                             results[0].getGridShape()[0], results[0].getGridShape()[1], memory)) {
      PlacedTensor lies = *placedTensor(type, created);
      if (accepts(op, index, lies, {*placedTensor(op->getResult(0).getType(), results[0])}))
        return created;
    }
  return interleavedInL1(type, plain);
}

LogicalResult Propagation::propagate(Operation *op) {
  numbers[op] = nodes.size();
  Node node;
  node.op = op;
  node.users = std::max<double>(1, llvm::range_size(op->getUsers()));
  auto layouts = legalLayouts(op, memory, settings.sharded, settings.mostLayouts);
  FailureOr<TTNNLayoutAttr> requested = op->getNumResults() ? overrides.layoutOf(op, memory) : TTNNLayoutAttr();
  if (failed(requested))
    return failure();
  if (*requested) {
    layouts.assign(1, SmallVector<TTNNLayoutAttr, 1>{*requested});
    node.reason = "override-output-layout asks for it";
  } else if (layouts.size() == 1) {
    node.reason = familyOf(op) == Family::Attention ? "attention reads and writes DRAM"
                  : isPlaceable(op)                 ? "only one layout is allowed"
                                                    : "its place is not a choice: what it makes leaves the program, is "
                                                      "written to, or it computes for other chips or the host";
  }
  const auto most = static_cast<int64_t>(settings.l1Share * static_cast<double>(memory.usable()));
  for (auto &each : layouts) {
    Candidate candidate;
    for (auto [result, layout] : llvm::zip_equal(op->getResults(), each)) {
      candidate.outs.push_back(placedTensor(result.getType(), layout).value_or(PlacedTensor()));
      candidate.l1Bytes += l1BytesOfBank(memory, candidate.outs.back());
    }
    candidate.layouts = std::move(each);
    candidate.from.assign(tensorsOf(op).size(), 0);
    node.candidates.push_back(std::move(candidate));
    Candidate &last = node.candidates.back();
    if (last.l1Bytes > most && *requested)
      return op->emitOpError() << "option override-output-layout: the result needs " << last.l1Bytes
                               << " bytes of each core; tensors may have " << most;
    if (last.l1Bytes > most)
      last.refused = llvm::formatv("needs {0} bytes of each core; tensors may have {1}", last.l1Bytes, most).str();
    else
      reach(node, last);
  }
  // Without a choice there is one way, at any cost.
  if (node.candidates.size() == 1 && node.candidates[0].pathNs == never)
    node.candidates[0].pathNs = 0;
  // A layout that is cheapest nowhere may be the one that a user needs; the search does not go beyond the beam.
  if (static_cast<int64_t>(node.candidates.size()) > settings.beam) {
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(1, node.candidates.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(node.candidates[a].pathNs, a) < std::pair(node.candidates[b].pathNs, b);
    });
    for (unsigned index : llvm::drop_begin(order, std::max<int64_t>(0, settings.beam - 1))) {
      node.candidates[index].pathNs = never;
      node.candidates[index].refused = "beyond the beam";
    }
  }
  OpTensors plain(op);
  if (familyOf(op) != Family::None)
    dramNs += cost.times(op, plain).total();
  nodes.push_back(std::move(node));
  return success();
}

/// The cheapest layouts of the operands for these of the results.
void Propagation::reach(Node &node, Candidate &candidate) {
  Operation *op = node.op;
  SmallVector<Value, 4> operands = tensorsOf(op);
  OpTensors tensors;
  tensors.outs.assign(candidate.outs.begin(), candidate.outs.end());
  SmallVector<double, 4> pathNs(operands.size(), 0);
  SmallVector<int64_t, 4> l1(operands.size(), 0);
  SmallVector<const Node *, 4> producers;
  for (Value operand : operands) {
    producers.push_back(producerOf(operand));
    tensors.ins.push_back(placedTensor(operand.getType()));
  }
  candidate.from.assign(operands.size(), 0);
  const auto most = static_cast<int64_t>(settings.l1Share * static_cast<double>(memory.usable()));
  SmallVector<unsigned, 4> from(operands.size(), 0);
  // A value that is read twice takes its space once.
  SmallVector<bool, 4> isFirst;
  SmallPtrSet<Value, 4> seen;
  for (Value operand : operands)
    isFirst.push_back(seen.insert(operand).second);

  auto choose = [&](size_t index, unsigned which) {
    const Node &producer = *producers[index];
    from[index] = which;
    PlacedTensor given = placedOf(producer, which, operands[index]);
    pathNs[index] = producer.candidates[which].pathNs / producer.users;
    if (!accepts(op, index, given, candidate.outs)) {
      PlacedTensor target =
          *placedTensor(operands[index].getType(), targetLayout(op, index, operands[index], candidate.layouts));
      pathNs[index] += settings.moves ? cost.moveNs(given, target) : never;
      given = target;
    }
    tensors.ins[index] = given;
    l1[index] = l1BytesOfBank(memory, given);
  };
  auto take = [&] {
    double path = 0;
    int64_t bytes = candidate.l1Bytes;
    for (size_t i = 0; i < operands.size(); ++i) {
      path += pathNs[i];
      if (isFirst[i])
        bytes += l1[i];
    }
    if (path >= candidate.pathNs)
      return;
    // Kernels use what tensors leave of the share.
    if (bytes > 0 && bytes + OpCost::circularBytes(op, tensors, memory.without(memory.usable() - most + bytes)) > most)
      return;
    const double own = cost.times(op, tensors).total();
    if (path + own >= candidate.pathNs)
      return;
    candidate.pathNs = path + own;
    candidate.ownNs = own;
    candidate.from = from;
  };

  // Layouts of the first two operands with a choice are tried together; the other operands take the cheapest one.
  SmallVector<unsigned, 2> tried;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!producers[i])
      continue;
    choose(i, producers[i]->candidates.size() > 1 ? 0 : producers[i]->chosen);
    if (producers[i]->candidates.size() == 1)
      continue;
    if (tried.size() < 2) {
      tried.push_back(i);
      continue;
    }
    unsigned best = 0;
    for (unsigned k = 1; k < producers[i]->candidates.size(); ++k)
      if (producers[i]->candidates[k].pathNs < producers[i]->candidates[best].pathNs &&
          accepts(op, i, placedOf(*producers[i], k, operands[i]), candidate.outs))
        best = k;
    choose(i, best);
  }
  auto countOf = [&](size_t place) -> unsigned {
    return place < tried.size()
               ? std::min<size_t>(producers[tried[place]]->candidates.size(), std::max<int64_t>(1, settings.mostInputs))
               : 1;
  };
  for (unsigned first = 0; first < countOf(0); ++first) {
    if (!tried.empty())
      choose(tried[0], first);
    for (unsigned second = 0; second < countOf(1); ++second) {
      if (tried.size() > 1)
        // A value has one placement.
        choose(tried[1], operands[tried[1]] == operands[tried[0]] ? first : second);
      take();
    }
  }
  if (candidate.pathNs == never)
    candidate.refused = "does not fit into L1 with its operands and circular buffers, or takes none of their layouts";
}

//===----------------------------------------------------------------------===//
// Backwards
//===----------------------------------------------------------------------===//

void Propagation::countWork(Node &user) const {
  if (!user.places.empty())
    return;
  unsigned place = 0;
  for (Type type : user.op->getOperandTypes())
    user.places.push_back(isa<RankedTensorType>(type) ? place++ : place);
  const Candidate &candidate = user.candidates[user.chosen];
  user.tensors.outs.assign(candidate.outs.begin(), candidate.outs.end());
  for (auto [index, operand] : llvm::enumerate(tensorsOf(user.op))) {
    const Node *producer = producerOf(operand);
    std::optional<PlacedTensor> lies = placedTensor(operand.getType());
    if (producer)
      lies = placedOf(*producer, producer->candidates.size() > 1 ? candidate.from[index] : 0, operand);
    if (lies && !accepts(user.op, index, *lies, candidate.outs))
      lies = placedTensor(operand.getType(), targetLayout(user.op, index, operand, candidate.layouts));
    user.tensors.ins.push_back(lies);
  }
  user.work = cost.work(user.op, user.tensors);
}

double Propagation::timeWith(const Node &user, ArrayRef<unsigned> places, Value value,
                             const PlacedTensor &operand) const {
  const Candidate &candidate = user.candidates[user.chosen];
  double moves = 0;
  SmallVector<std::pair<unsigned, PlacedTensor>, 2> changed;
  for (unsigned place : places) {
    PlacedTensor lies = operand;
    if (!accepts(user.op, place, lies, candidate.outs)) {
      PlacedTensor target = *placedTensor(value.getType(), targetLayout(user.op, place, value, candidate.layouts));
      moves += settings.moves ? cost.moveNs(lies, target) : never;
      lies = target;
    }
    changed.emplace_back(place, lies);
  }
  return cost.nsWith(user.op, user.tensors, user.work, changed) + moves;
}

/// Users already have their layouts: a value with several users takes the one with the lowest total cost.
void Propagation::settle(Node &node) {
  if (node.candidates.size() == 1)
    return;
  struct Reader {
    Node *user;
    OpResult value;
    SmallVector<unsigned, 2> places;
  };
  llvm::MapVector<std::pair<Operation *, Value>, Reader> readers;
  for (OpResult result : node.op->getResults())
    for (OpOperand &use : result.getUses())
      if (auto found = numbers.find(use.getOwner()); found != numbers.end()) {
        Reader &reader = readers[{use.getOwner(), result}];
        reader.user = &nodes[found->second];
        reader.value = result;
        countWork(*reader.user);
        reader.places.push_back(reader.user->places[use.getOperandNumber()]);
      }
  double best = never;
  for (auto [index, candidate] : llvm::enumerate(node.candidates)) {
    double ns = candidate.pathNs;
    for (auto &[key, reader] : readers)
      if (ns != never)
        ns += timeWith(*reader.user, reader.places, reader.value, candidate.outs[reader.value.getResultNumber()]);
    if (ns < best) {
      best = ns;
      node.chosen = index;
    }
  }
  node.reason =
      node.chosen == 0 ? "no place in L1 makes it, and what reads it, faster" : "cheapest for it and for what reads it";
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Propagation::apply(Node &node) {
  Operation *op = node.op;
  Candidate &candidate = node.candidates[node.chosen];
  if (familyOf(op) == Family::None)
    return;
  for (auto [result, layout] : llvm::zip_equal(op->getResults(), candidate.layouts))
    if (layout)
      result.setType(withLayout(cast<RankedTensorType>(result.getType()), layout));
  // Operands have their settled layouts by now.
  ArrayRef<int64_t> requested = overrides.reconfiguredOperands(op);
  unsigned index = 0;
  for (OpOperand &use : op->getOpOperands()) {
    if (!isa<RankedTensorType>(use.get().getType()))
      continue;
    std::optional<PlacedTensor> lies = placedTensor(use.get().getType());
    const unsigned place = index++;
    const bool isRequested = llvm::is_contained(requested, place);
    // If several ops have a name, one of them has to get the change.
    auto inTheWay = [&](const std::string &what) {
      if (isRequested)
        reconfigurations.try_emplace({nameOf(op->getLoc()), place}, std::pair(op, what));
    };
    if (!lies || !lies->onDevice()) {
      inTheWay("lies on the host");
      continue;
    }
    if (accepts(op, place, *lies, candidate.outs) && !isRequested)
      continue;
    auto type = cast<RankedTensorType>(use.get().getType());
    TTNNLayoutAttr target = targetLayout(op, place, use.get(), candidate.layouts);
    if (target == TTNNLayoutAttr::of(type)) {
      inTheWay("lies where the op would have it already: " + describe(target));
      continue;
    }
    if (isRequested)
      reconfigurations[{nameOf(op->getLoc()), place}] = std::nullopt;
    OpBuilder builder(op);
    auto moved = ToMemoryConfigOp::create(builder, ttcore::withoutSourceNumber(op->getLoc()), withLayout(type, target),
                                          use.get());
    use.set(moved.getResult());
  }
  candidate.ownNs = cost.times(op, OpTensors(op)).total();
}

llvm::json::Object Propagation::trace(StringRef arch) {
  llvm::json::Array ops;
  double all = 0;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (familyOf(node.op) == Family::None)
      continue;
    const Candidate &chosen = node.candidates[node.chosen];
    all += chosen.ownNs;
    llvm::json::Array candidates;
    for (const Candidate &each : node.candidates) {
      OpTensors tensors(node.op);
      tensors.outs.assign(each.outs.begin(), each.outs.end());
      ::ttmlir::cost::Bound bound = cost.times(node.op, tensors).bound();
      llvm::json::Object created{{"layout", describe(each.layouts[0])},
                                 {"l1_bytes", each.l1Bytes},
                                 {"bound", textOf(bound)},
                                 {"refused", each.refused}};
      if (each.pathNs != never) {
        created["ns"] = each.ownNs;
        created["path_ns"] = each.pathNs;
      }
      candidates.push_back(std::move(created));
    }
    std::string type;
    auto tensor = cast<RankedTensorType>(node.op->getResult(0).getType());
    llvm::raw_string_ostream out(type);
    llvm::interleave(tensor.getShape(), out, "x");
    out << ' ' << ttcore::stringifyDataType(TTNNLayoutAttr::of(tensor).getDataType());
    Times times = cost.times(node.op, OpTensors(node.op));
    ops.push_back(llvm::json::Object{{"index", int64_t(index)},
                                     {"op", node.op->getName().getStringRef()},
                                     {"location", locationText(node.op)},
                                     {"type", type},
                                     {"candidates", std::move(candidates)},
                                     {"chosen", describe(chosen.layouts[0])},
                                     {"place", describe(chosen.layouts[0])},
                                     {"ns", times.total()},
                                     {"bound", textOf(times.bound())},
                                     {"reason", node.reason}});
  }
  return llvm::json::Object{{"function", function.getSymName()},
                            {"chip", arch},
                            {"l1_bytes_per_core", memory.usable()},
                            {"ns", all},
                            {"dram_ns", dramNs},
                            {"ops", std::move(ops)}};
}

namespace {
struct GreedyMemoryLayoutPropagation
    : ttnn::impl::TTNNGreedyMemoryLayoutPropagationBase<GreedyMemoryLayoutPropagation> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ttcore::ChipDescAttr chip = chipOf(module);
    if (!chip)
      return signalPassFailure();
    FailureOr<Overrides> overrides =
        Overrides::parse(module, overrideOutputLayout, insertMemReconfig, overrideConv2dConfig);
    if (failed(overrides) || failed(overrides->check(module)) || failed(overrides->applyConvConfigs(module)))
      return signalPassFailure();
    const ChipMemory memory(chip);
    Reconfigurations reconfigurations;
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      if (!choosesLayouts(function))
        continue;
      shardWeightsInDram(function.getBody().front(), memory);
      for (Operation &op : function.getBody().front())
        if (Attribute config = matmulConfigOf(&op, memory))
          op.setAttr("matmul_program_config", config);
      Propagation propagation(function, chip,
                              {enableL1ShardingLayouts, maxReshardCandidatesPerType > 0, maxLegalLayouts, beamWidth,
                               maxInputCandidatesPerOperand, tensorL1UsageCap},
                              *overrides, reconfigurations);
      if (failed(propagation.run()))
        return signalPassFailure();
      function.setFunctionType(FunctionType::get(&getContext(), function.getArgumentTypes(),
                                                 function.getBody().front().getTerminator()->getOperandTypes()));
      if (enableDecisionTrace &&
          failed(writeDecisionTrace(function, decisionTraceDir, function.getSymName(),
                                    propagation.trace(ttcore::stringifyArch(chip.getArch().getValue())))))
        return signalPassFailure();
    }
    for (const auto &[requested, inTheWay] : reconfigurations)
      if (inTheWay) {
        inTheWay->first->emitOpError() << "option insert-memreconfig: operand " << requested.second << ' '
                                       << inTheWay->second << "; there is nothing to change";
        return signalPassFailure();
      }
  }
};
} // namespace
