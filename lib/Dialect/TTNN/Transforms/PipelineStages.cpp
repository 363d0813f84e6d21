//===- PipelineStages.cpp - functions cut into stages ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Optimizer/OpCost.h"
#include "StageCuts.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTCore/Transforms/Stages.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNPIPELINESTAGES
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Moves an argument to the memory that ops require.
static bool isLayoutChange(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return isPure(op) && (name == "to_layout" || name == "to_device" || name == "to_memory_config" || name == "typecast");
}

namespace {
/// The ops of a function. Each stage computes for itself values that depend only on arguments and constants and take
/// too little time to be sent; `steps` are the other ops, which are divided.
struct Body {
  explicit Body(Block &block) {
    for (Operation &op : block.without_terminator())
      if (isShared(&op))
        shared.insert(&op);
      else
        steps.push_back(&op);
  }

  bool isGiven(Value value) const {
    return isa<BlockArgument>(value) || shared.contains(value.getDefiningOp()) || !isTensor(value);
  }

  SetVector<Operation *> shared;
  SmallVector<Operation *> steps;

private:
  bool isShared(Operation *op) const {
    if (isa<GetDeviceOp>(op))
      return true;
    const bool isGivenAll = llvm::all_of(op->getOperands(), [&](Value operand) { return isGiven(operand); });
    const bool isOnce = isa<ttcore::LoadCachedOp>(op) || isLayoutChange(op) ||
                        (isPure(op) && llvm::none_of(op->getOperands(), isTensor));
    return isGivenAll && isOnce &&
           llvm::none_of(op->getResults(), [](Value result) { return ttcore::mayBeWritten(result); });
  }
};

/// One stage under construction.
struct Stage {
  SmallVector<Operation *> ops; // in order, with what is shared
  SetVector<Value> inputs, outputs;
};

struct PipelineStages : ttnn::impl::TTNNPipelineStagesBase<PipelineStages> {
  using Base::Base;

  void runOnOperation() override {
    auto functions = llvm::to_vector(llvm::make_filter_range(getOperation().getOps<func::FuncOp>(), [&](auto function) {
      return !function.isExternal() && !function.isPrivate() && !function->hasAttr(ttcore::stagesMeshName) &&
             (numStages != 1 || function->hasAttr(ttcore::microBatchesName));
    }));
    if (functions.empty())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : functions)
      if (failed(findMesh(function)) || failed(cut(function, symbols)))
        return signalPassFailure();
  }

private:
  SmallVector<int64_t> stageMesh, mesh;
  size_t axis = 1; // of the mesh, along which stages follow each other

  /// The program is for the mesh of a stage; the whole mesh contains as many of them.
  LogicalResult findMesh(func::FuncOp function) {
    auto error = [&] { return function.emitOpError() << "is cut into " << numStages.getValue() << " stages, but "; };
    if (numStages < 1)
      return error() << "expected 1 or more";
    ttcore::DeviceOp device = ttcore::lookupDevice(function);
    if (!device)
      return error() << "the module has no device; run ttcore-register-device first";
    stageMesh = llvm::to_vector(device.getDeviceAttr().getMeshShape());
    if (stageMesh.size() != 2)
      return error() << "the mesh of the device has " << stageMesh.size() << " dimensions; expected rows and columns";
    mesh = llvm::to_vector(meshShape);
    axis = 1;
    // Without a mesh there is one chip.
    if (llvm::all_of(mesh, [](int64_t size) { return size == 1; })) {
      mesh = stageMesh;
      mesh[1] *= numStages;
      return success();
    }
    for (size_t along : {1, 0}) {
      axis = along;
      SmallVector<int64_t> whole = stageMesh;
      whole[along] *= numStages;
      if (mesh == whole)
        return success();
    }
    auto text = [](ArrayRef<int64_t> shape) {
      return llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
    };
    return error() << "a mesh of " << text(mesh) << " is not " << numStages.getValue() << " times that of the program, "
                   << text(stageMesh);
  }

  LogicalResult cut(func::FuncOp function, SymbolTable &symbols) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has " << llvm::range_size(function.getBody())
                                    << " blocks; only a function of one block is cut into stages";
    Block &block = function.getBody().front();
    Body body(block);
    if (body.steps.size() < static_cast<size_t>(numStages))
      return function.emitOpError() << "has " << body.steps.size()
                                    << " ops that can be cut into stages; expected at least " << numStages.getValue()
                                    << ", one for each stage";
    for (BlockArgument argument : block.getArguments())
      if (ttcore::mayBeWritten(argument))
        return function.emitOpError() << "argument " << argument.getArgNumber()
                                      << " is changed in place, which a stage cannot do: it has a copy";
    FailureOr<std::vector<Part>> parts = partsOf(body);
    if (failed(parts))
      return failure();
    std::vector<Stage> stages;
    DenseMap<Operation *, size_t> stageOf;
    for (auto [index, part] : llvm::enumerate(*parts))
      for (size_t i = part.first; i < part.second; ++i)
        stageOf[body.steps[i]] = index;
    for (size_t index = 0; index < parts->size(); ++index)
      stages.push_back(collect(block, body, stageOf, index));
    if (failed(checkValues(function, stages)))
      return failure();
    build(function, stages, symbols);
    return success();
  }

  FailureOr<std::vector<Part>> partsOf(const Body &body) {
    auto system = getOperation()->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
    if (!system || system.getChipDescs().empty())
      return getOperation().emitError() << "module has no ttcore.system_desc; run ttcore-register-device first";
    const OpCost cost(system.getChipDescs().front());
    DenseMap<Operation *, size_t> places;
    SmallVector<double> times;
    for (Operation *op : body.steps) {
      places[op] = times.size();
      times.push_back(cost.opNs(op));
    }
    SmallVector<Crossing> crossing;
    for (Operation *op : body.steps)
      for (Value result : op->getResults()) {
        Crossing value{places[op], places[op], 0};
        for (Operation *user : result.getUsers())
          if (auto found = places.find(user); found != places.end())
            value.used = std::max(value.used, found->second);
        if (value.used == value.created)
          continue;
        value.ns = cost.sendNs(result);
        crossing.push_back(value);
      }
    return cutEvenly(times, crossing, numStages);
  }

  /// The ops of a stage, its inputs and its outputs.
  static Stage collect(Block &block, const Body &body, const DenseMap<Operation *, size_t> &stageOf, size_t index) {
    const auto isHere = [&](Operation *op) {
      auto found = stageOf.find(op);
      return found != stageOf.end() && found->second == index;
    };
    const bool isLast = llvm::all_of(stageOf, [&](auto entry) { return entry.second <= index; });
    // Shared ops, from their users backwards.
    DenseSet<Operation *> needed;
    Stage stage;
    for (Operation &op : llvm::reverse(block)) {
      const bool isReturn = op.hasTrait<OpTrait::IsTerminator>();
      if (!isReturn && !isHere(&op) && !needed.contains(&op))
        continue;
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && body.shared.contains(producer) && (!isReturn || isLast))
          needed.insert(producer);
    }
    for (Operation &op : block.without_terminator()) {
      if (!isHere(&op) && !needed.contains(&op))
        continue;
      stage.ops.push_back(&op);
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp();
            !producer || (!isHere(producer) && !needed.contains(producer)))
          stage.inputs.insert(operand);
    }
    Operation *terminator = block.getTerminator();
    for (Operation *op : stage.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return isHere(op) ? !isHere(user) : isLast && user == terminator; }))
          stage.outputs.insert(result);
    return stage;
  }

  static LogicalResult checkValues(func::FuncOp function, ArrayRef<Stage> stages) {
    for (auto [index, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
      if (isa<BlockArgument>(value))
        return function.emitOpError() << "result " << index << " is an argument; a stage gives what it computes";
    for (const Stage &stage : stages)
      for (Value value : stage.outputs) {
        Operation *producer = value.getDefiningOp();
        if (!isTensor(value))
          return producer->emitOpError() << "gives " << value.getType()
                                         << " to another stage, which takes tensors only";
        if (ttcore::mayBeWritten(value))
          return producer->emitOpError() << "gives a tensor to another stage that is changed in place; that has a copy";
      }
    return success();
  }

  void build(func::FuncOp function, ArrayRef<Stage> stages, SymbolTable &symbols) {
    Block &block = function.getBody().front();
    Operation *terminator = block.getTerminator();
    OpBuilder builder(&getContext());
    IRMapping given; // values of the function as its stages give them
    SmallVector<Operation *> old;
    for (Operation &op : block.without_terminator())
      old.push_back(&op);
    for (auto [index, stage] : llvm::enumerate(stages)) {
      func::FuncOp program = makeFunction(function, stage, index);
      // After all others, whose places in the binary do not change.
      symbols.insert(program, getOperation().getBody()->end());
      builder.setInsertionPoint(terminator);
      SmallVector<Value> inputs;
      for (Value input : stage.inputs)
        inputs.push_back(given.lookupOrDefault(input));
      auto call =
          func::CallOp::create(builder, ttcore::withoutSourceNumber(stage.ops.back()->getLoc()), program, inputs);
      SmallVector<int64_t> offset(2, 0);
      offset[axis] = static_cast<int64_t>(index) * stageMesh[axis];
      call->setAttr(ttcore::meshOffsetName, builder.getDenseI64ArrayAttr(offset));
      for (auto [value, result] : llvm::zip_equal(stage.outputs, call.getResults()))
        given.map(value, result);
    }
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(given.lookupOrDefault(operand.get()));
    for (Operation *op : llvm::reverse(old))
      op->erase();
    function->setAttr(ttcore::stagesMeshName, builder.getDenseI64ArrayAttr(mesh));
  }

  func::FuncOp makeFunction(func::FuncOp function, const Stage &stage, size_t index) {
    OpBuilder builder(&getContext());
    auto typesOf = [](ArrayRef<Value> values) {
      return llvm::map_to_vector(values, [](Value v) { return v.getType(); });
    };
    ArrayRef<Value> inputs = stage.inputs.getArrayRef(), outputs = stage.outputs.getArrayRef();
    auto program =
        func::FuncOp::create(builder, function.getLoc(), (function.getSymName() + "_stage_" + Twine(index)).str(),
                             builder.getFunctionType(typesOf(inputs), typesOf(outputs)));
    program.setPrivate();
    if (Attribute type = function->getAttr(ttcore::functionTypeName))
      program->setAttr(ttcore::functionTypeName, type);
    Block *body = builder.createBlock(&program.getBody());
    IRMapping inside;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      inside.map(input, body->addArgument(input.getType(), input.getLoc()));
      if (auto argument = dyn_cast<BlockArgument>(input))
        for (NamedAttribute attr : function.getArgAttrDict(argument.getArgNumber())
                                       ? function.getArgAttrDict(argument.getArgNumber()).getValue()
                                       : ArrayRef<NamedAttribute>())
          if (attr.getName() != ttcore::microBatchName)
            program.setArgAttr(i, attr.getName(), attr.getValue());
    }
    for (Operation *op : stage.ops)
      builder.clone(*op, inside);
    func::ReturnOp::create(builder, function.getLoc(),
                           llvm::map_to_vector(outputs, [&](Value value) { return inside.lookup(value); }));
    return program;
  }
};
} // namespace
