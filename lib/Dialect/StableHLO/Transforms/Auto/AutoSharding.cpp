//===- AutoSharding.cpp - shardings by estimated time ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Problem.h"
#include "Progress.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"
#include "ttmlir/Target/OutputFile.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_AUTOSHARDINGPASS
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
using namespace mlir::tt::shlo::autosharding;

namespace {
constexpr std::pair<StringLiteral, Variant> variants[] = {{"chosen", Variant::Any},
                                                          {"data_parallel", Variant::DataParallel},
                                                          {"tensor_parallel", Variant::TensorParallel},
                                                          {"no_sharding", Variant::Whole}};

struct Found {
  StringRef name;
  Solution solution;
  Time time;
  Problem::Memory memory;
};

std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

/// All chips of a system are equal.
ttcore::ChipDescAttr chipOf(ModuleOp module) {
  auto system = module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
  return (system ? system : ttcore::SystemDescAttr::getDefault(module.getContext())).getChipDescs().front();
}

LogicalResult write(const std::string &path, StringRef text, Location loc) {
  ::ttmlir::OutputFile file(path);
  file.write(std::string_view(text.data(), text.size()));
  if (int error = file.keep())
    return emitError(loc) << "auto-sharding: cannot write " << path << ": " << std::strerror(error);
  return success();
}

struct AutoSharding : shlo::impl::AutoShardingPassBase<AutoSharding> {
  using AutoShardingPassBase::AutoShardingPassBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (dramBytes < 0)
      return emitError(module.getLoc()) << "auto-sharding: dram-bytes is " << dramBytes.getValue()
                                        << "; expected 0 or more";
    FailureOr<sdy::MeshOp> mesh = findMesh(module);
    if (failed(mesh))
      return failure();
    if (!*mesh || isSolved(module) || hasGspmdAnnotations(module))
      return success();
    // Called functions are split like their callers.
    OpPassManager inliner(ModuleOp::getOperationName());
    inliner.addPass(createInlineCalls());
    if (failed(runPipeline(inliner, module)))
      return failure();
    llvm::json::Array functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() && llvm::hasSingleElement(function.getBody()))
        if (failed(run(module, function, *mesh, functions)))
          return failure();
    if (reportFile.empty())
      return success();
    return write(reportFile, llvm::formatv("{0:2}\n", llvm::json::Value(std::move(functions))).str(), module.getLoc());
  }

  LogicalResult run(ModuleOp module, func::FuncOp function, sdy::MeshOp mesh, llvm::json::Array &functions) {
    sdy::Meshes meshes(module);
    Model model(chipOf(module), mesh.getMesh());
    Problem problem(function, mesh.getMesh(), meshes, model);
    int64_t room = dramBytes > 0 ? dramBytes : model.dramBytes();
    std::vector<Found> found;
    Progress progress(("auto-sharding @" + function.getSymName()).str());
    for (auto [name, variant] : variants)
      found.push_back(search(problem, name, variant, room, found, progress));
    progress.clear();
    // The wider search includes the others; if it is cut short, one of them may be better.
    for (const Found &other : ArrayRef(found).drop_front())
      if (isBetter(other, found.front(), room))
        found.front() = {found.front().name, other.solution, other.time, other.memory};
    if (found.front().memory.total() > room)
      function.emitWarning() << "auto-sharding: the least that a chip must hold is " << found.front().memory.total()
                             << " bytes; it has room for " << room;

    Attribute reference = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    if (dumpVariants) {
      for (const Found &variant : found)
        if (failed(dump(module, function, mesh, variant)))
          return failure();
      if (failed(dumpNetwork(problem, function, found.front())))
        return failure();
    }
    problem.apply(found.front().solution.choice, reference);
    if (!reportFile.empty())
      functions.push_back(report(function, mesh, found, room));
    return success();
  }

  static bool isBetter(const Found &a, const Found &b, int64_t room) {
    bool fits = a.memory.total() <= room, otherFits = b.memory.total() <= room;
    if (fits != otherFits)
      return fits;
    return fits ? a.time.total < b.time.total * (1 - 1e-9) : a.memory.total() < b.memory.total();
  }

  /// The fastest plan that fits. If the fastest of all does not fit, bytes get a price, as low as possible.
  static Found search(const Problem &problem, StringRef name, Variant variant, int64_t room, ArrayRef<Found> before,
                      Progress &progress) {
    std::vector<unsigned> start = before.empty() ? problem.start() : before.front().solution.choice;
    // If memory is scarce: prices up to 1e3, steps between two of them, and numbers of arguments by bisection.
    const double most = 1 + 9 + 8 + 2 * llvm::Log2_64_Ceil(problem.numArguments() + 1);
    double solved = 0;
    auto at = [&](Problem::Price price) {
      progress.at((before.size() + solved++ / most) / std::size(variants), name);
      Found found = {name, solve(problem.network(variant, price), start, largestTable), {}, {}};
      found.time = problem.timeOf(found.solution.choice);
      found.memory = problem.memoryOf(found.solution.choice);
      return found;
    };
    Found best = at({leastPrice, leastPrice});
    if (best.memory.total() <= room || variant == Variant::Whole)
      return best;
    auto fits = [&](Problem::Price price) {
      Found priced = at(price);
      bool hasRoom = priced.memory.total() <= room;
      if (isBetter(priced, best, room))
        best = std::move(priced);
      return hasRoom;
    };
    double low = leastPrice, high = 1e-5;
    while (high <= 1e3 && !fits({high, high}))
      low = high, high *= 10;
    best.solution.isOptimal = false; // at some price, not for this room
    if (high > 1e3)
      return best;
    for (int step = 0; step < 8; ++step) {
      double middle = std::sqrt(low * high);
      (fits({middle, middle}) ? high : low) = middle;
    }
    // One price makes all layers equal. As few arguments as possible have a price that justifies a change between
    // layers.
    for (double factor : {2.0, 8.0}) {
      unsigned none = 0, all = problem.numArguments();
      while (all - none > 1) {
        unsigned middle = none + (all - none) / 2;
        (fits({factor * high, leastPrice, middle}) ? all : none) = middle;
      }
    }
    best.solution.isOptimal = false;
    return best;
  }

  std::string pathOf(func::FuncOp function, StringRef name, StringRef ending) const {
    SmallString<128> path(dumpDir);
    if (!path.empty() && path.back() != '/')
      path += '/';
    return (path + "auto_sharding_" + function.getSymName() + "_" + name + ending).str();
  }

  LogicalResult dump(ModuleOp module, func::FuncOp function, sdy::MeshOp mesh, const Found &variant) const {
    OwningOpRef<ModuleOp> copy = module.clone();
    auto copied = copy->lookupSymbol<func::FuncOp>(function.getSymName());
    sdy::Meshes meshes(*copy);
    Model model(chipOf(module), mesh.getMesh());
    Problem(copied, mesh.getMesh(), meshes, model)
        .apply(variant.solution.choice, FlatSymbolRefAttr::get(mesh.getSymNameAttr()));
    std::string text;
    llvm::raw_string_ostream stream(text);
    copy->print(stream);
    return write(pathOf(function, variant.name, ".mlir"), text, function.getLoc());
  }

  /// Writes the input and the result of the solver, for external solvers.
  LogicalResult dumpNetwork(const Problem &problem, func::FuncOp function, const Found &found) const {
    Network network = problem.network(Variant::Any, {leastPrice, leastPrice});
    llvm::json::Array costs, pairs, choice;
    for (const auto &variable : network.costs)
      costs.push_back(llvm::json::Array(variable));
    for (const Network::Pair &pair : network.pairs)
      pairs.push_back(llvm::json::Object{
          {"first", pair.first}, {"second", pair.second}, {"costs", llvm::json::Array(*pair.costs)}});
    for (unsigned chosen : found.solution.choice)
      choice.push_back(chosen);
    llvm::json::Object object{{"costs", std::move(costs)},
                              {"pairs", std::move(pairs)},
                              {"choice", std::move(choice)},
                              {"cost", network.costOf(found.solution.choice)},
                              {"is_optimal", found.solution.isOptimal}};
    return write(pathOf(function, "network", ".json"),
                 llvm::formatv("{0}\n", llvm::json::Value(std::move(object))).str(), function.getLoc());
  }

  static llvm::json::Object report(func::FuncOp function, sdy::MeshOp mesh, ArrayRef<Found> found, int64_t room) {
    llvm::json::Array listed, arguments, ops;
    for (const Found &variant : found)
      listed.push_back(llvm::json::Object{{"name", variant.name},
                                          {"time_ns", variant.time.total},
                                          {"compute_ns", variant.time.compute},
                                          {"memory_ns", variant.time.memory},
                                          {"collectives_ns", variant.time.collectives},
                                          {"argument_bytes", variant.memory.arguments},
                                          {"activation_bytes", variant.memory.activations},
                                          {"fits", variant.memory.total() <= room},
                                          {"is_optimal", variant.solution.isOptimal}});
    for (BlockArgument argument : function.getArguments())
      if (sdy::TensorShardingAttr sharding = sdy::getShardingAttr(argument))
        arguments.push_back(textOf(sharding));
      else
        arguments.push_back(nullptr);
    for (Operation &op : function.front()) {
      llvm::json::Array results;
      for (Value result : op.getResults())
        if (sdy::TensorShardingAttr sharding = sdy::getShardingAttr(result))
          results.push_back(textOf(sharding));
      if (!results.empty())
        ops.push_back(llvm::json::Object{{"op", op.getName().getStringRef()}, {"results", std::move(results)}});
    }
    llvm::json::Array axes;
    for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
      axes.push_back(llvm::json::Object{{"name", axis.getName()}, {"size", axis.getSize()}});
    return llvm::json::Object{
        {"function", function.getSymName()}, {"mesh", std::move(axes)},           {"dram_bytes", room},
        {"variants", std::move(listed)},     {"arguments", std::move(arguments)}, {"ops", std::move(ops)}};
  }

  /// The lowest price of a byte: among plans of equal time, the one with fewer bytes is chosen.
  static constexpr double leastPrice = 1e-9;
  static constexpr size_t largestTable = 1 << 22;
};
} // namespace
