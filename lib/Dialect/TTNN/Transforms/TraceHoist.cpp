//===- TraceHoist.cpp - programs as recordings of commands ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/BeginTraceCaptureOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CaptureOrExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EndTraceCaptureOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNTRACEHOISTTRANSFORM
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static bool isOnDevice(Value value) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType());
  return layout && layout.isOnDevice();
}

static bool isDevice(Value value) { return isa<DeviceType>(value.getType()); }

/// Whether a recording may contain the op: one that computes, on the device alone, from its operands. The program runs
/// ops that write to an operand, because it has the operand and not a copy.
static bool isTraceable(Operation &op) {
  if (isa<DeallocateOp>(op))
    return isOnDevice(op.getOperand(0));
  return isa_and_present<TTNNDialect>(op.getDialect()) && op.getNumResults() > 0 && op.getNumRegions() == 0 &&
         !isa<SymbolUserOpInterface>(op) && isMemoryEffectFree(&op) && llvm::all_of(op.getResults(), isOnDevice) &&
         llvm::all_of(op.getOperands(), [](Value operand) { return isDevice(operand) || isOnDevice(operand); });
}

/// Devices, and values that are evaluated once, come first, so that they divide nothing.
static void moveToHead(Block &body) {
  Operation *last = nullptr;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    auto isBefore = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return !producer || (last && (producer == last || producer->isBeforeInBlock(last)));
    };
    if (!op.hasTrait<trait::RunsOnce>() || !llvm::all_of(op.getOperands(), isBefore))
      continue;
    if (last)
      op.moveAfter(last);
    else
      op.moveBefore(&body.front());
    last = &op;
  }
}

/// The longest sequence of ops that can be recorded, without deallocations of earlier values.
static SmallVector<Operation *> findTrace(Block &body) {
  SmallVector<Operation *> best, run;
  size_t mostComputed = 0, computed = 0;
  for (Operation &op : body) {
    if (isTraceable(op) && !op.hasTrait<OpTrait::IsTerminator>()) {
      run.push_back(&op);
      computed += !isa<DeallocateOp>(op);
      continue;
    }
    if (computed > mostComputed) {
      mostComputed = computed;
      best = run;
    }
    run.clear();
    computed = 0;
  }
  return best;
}

namespace {
struct TraceHoist : ttnn::impl::TTNNTraceHoistTransformBase<TraceHoist> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    bool changed = false;
    for (auto program : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      auto type = program->getAttrOfType<StringAttr>(ttcore::functionTypeName);
      if (program.isExternal() || program.isPrivate() || !program.getBody().hasOneBlock() ||
          (type && type.getValue() != ttcore::forwardDeviceType) ||
          !program.getBody().getOps<CaptureOrExecuteTraceOp>().empty())
        continue;
      Block &body = program.getBody().front();
      if (!llvm::any_of(body, [](Operation &op) { return isTraceable(op) && !isa<DeallocateOp>(op); }))
        continue;
      changed = true;
      moveToHead(body);
      hoist(program, findTrace(body), symbols);
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// A private function of the given kind, at the end of the module, with its entry block.
  func::FuncOp addFunction(func::FuncOp program, const Twine &name, StringRef kind, TypeRange inputs, TypeRange results,
                           SymbolTable &symbols) {
    OpBuilder builder(&getContext());
    auto function =
        func::FuncOp::create(builder, program.getLoc(), name.str(), builder.getFunctionType(inputs, results));
    function.setPrivate();
    function->setAttr(ttcore::functionTypeName, builder.getStringAttr(kind));
    symbols.insert(function, getOperation().getBody()->end());
    function.addEntryBlock();
    return function;
  }

  static Value addDevice(OpBuilder &builder, Location loc) {
    return GetDeviceOp::create(builder, loc, DeviceType::get(builder.getContext()), MeshShapeAttr(), MeshOffsetAttr());
  }

  void hoist(func::FuncOp program, ArrayRef<Operation *> run, SymbolTable &symbols) {
    DenseSet<Operation *> inside(run.begin(), run.end());
    SetVector<Value> inputs, outputs;
    SmallVector<Operation *> ops, frees;
    for (Operation *op : run) {
      Operation *producer = isa<DeallocateOp>(op) ? op->getOperand(0).getDefiningOp() : op;
      (producer && inside.contains(producer) ? ops : frees).push_back(op);
    }
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            !isDevice(operand) && (!producer || !inside.contains(producer)))
          inputs.insert(operand);
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
          outputs.insert(result);
    }
    if (outputs.empty())
      return;
    auto typesOf = [](ArrayRef<Value> values) {
      return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
    };
    const SmallVector<Type> inputTypes = typesOf(inputs.getArrayRef()), outputTypes = typesOf(outputs.getArrayRef());
    Location loc = ttcore::withoutSourceNumber(ops.front()->getLoc());
    const std::string name = ("trace_0_" + program.getSymName()).str();

    // What is recorded.
    auto trace = addFunction(program, name, ttcore::traceMainType, inputTypes, outputTypes, symbols);
    OpBuilder builder = OpBuilder::atBlockBegin(&trace.getBody().front());
    // Readers of its inputs come before they are freed.
    Operation *next = run.back()->getNextNode();
    for (Operation *free : frees)
      free->moveBefore(next);
    if (!frees.empty())
      next = frees.front();
    IRMapping mapping;
    mapping.map(inputs.getArrayRef(), trace.getArguments());
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (isDevice(operand) && !mapping.contains(operand))
          mapping.map(operand, addDevice(builder, loc));
    for (auto [input, argument] : llvm::zip(inputs, trace.getArguments()))
      argument.setLoc(ttcore::withoutSourceNumber(input.getLoc()));
    Block *body = &trace.getBody().front();
    for (Operation *op : ops) {
      op->moveBefore(body, body->end());
      for (OpOperand &operand : op->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
    }
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, loc, outputs.getArrayRef());

    auto slots = addSlots(program, name, inputTypes, loc, symbols);
    auto capture = addCapture(program, trace, loc, symbols);
    auto execute = addExecute(program, name, capture.getResultTypes().front(), loc, symbols);

    builder.setInsertionPoint(next);
    Value device;
    for (auto get : program.getBody().getOps<GetDeviceOp>())
      if (!device)
        device = get.getDevice();
    for (BlockArgument argument : program.getArguments())
      if (!device && isDevice(argument))
        device = argument;
    if (!device)
      device = addDevice(builder, loc);
    auto symbol = [](func::FuncOp function) { return FlatSymbolRefAttr::get(function.getSymNameAttr()); };
    auto replayed = CaptureOrExecuteTraceOp::create(builder, loc, outputTypes, device, inputs.getArrayRef(),
                                                    ValueRange(), symbol(slots), symbol(capture), symbol(execute));
    for (auto [output, result] : llvm::zip(outputs, replayed.getResults()))
      Value(output).replaceUsesWithIf(
          result, [&](OpOperand &use) { return use.getOwner()->getParentOp() == program.getOperation(); });
  }

  /// Space for the inputs, at fixed addresses.
  func::FuncOp addSlots(func::FuncOp program, StringRef name, ArrayRef<Type> types, Location loc,
                        SymbolTable &symbols) {
    auto function = addFunction(program, "allocate_slots_" + name, ttcore::traceAllocateSlotsType, {}, types, symbols);
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    SmallVector<Value> slots;
    Value device = types.empty() ? Value() : addDevice(builder, loc);
    for (Type type : types) {
      auto shape = ShapeAttr::get(&getContext(), cast<RankedTensorType>(type).getShape());
      slots.push_back(EmptyOp::create(builder, loc, type, device, shape, ttcore::DataTypeAttr()));
    }
    func::ReturnOp::create(builder, loc, slots);
    return function;
  }

  /// Runs the ops once, so that all kernels exist, and once more to record them.
  func::FuncOp addCapture(func::FuncOp program, func::FuncOp trace, Location loc, SymbolTable &symbols) {
    Type id = RankedTensorType::get({}, IntegerType::get(&getContext(), 32, IntegerType::Unsigned),
                                    TraceIdAttr::get(&getContext()));
    SmallVector<Type> results = {id};
    llvm::append_range(results, trace.getResultTypes());
    auto function = addFunction(program, "run_and_capture_" + trace.getSymName(), ttcore::traceRunAndCaptureType,
                                trace.getArgumentTypes(), results, symbols);
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    Value device = addDevice(builder, loc);
    func::CallOp::create(builder, loc, trace, function.getArguments());
    Value traceId = BeginTraceCaptureOp::create(builder, loc, id, device);
    auto recorded = func::CallOp::create(builder, loc, trace, function.getArguments());
    EndTraceCaptureOp::create(builder, loc, device, traceId);
    SmallVector<Value> returned = {traceId};
    llvm::append_range(returned, recorded.getResults());
    func::ReturnOp::create(builder, loc, returned);
    return function;
  }

  func::FuncOp addExecute(func::FuncOp program, StringRef name, Type id, Location loc, SymbolTable &symbols) {
    auto function = addFunction(program, "execute_" + name, ttcore::traceExecuteType, id, {}, symbols);
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    Value device = addDevice(builder, loc);
    ExecuteTraceOp::create(builder, loc, device, function.getArgument(0));
    func::ReturnOp::create(builder, loc);
    return function;
  }
};
} // namespace
