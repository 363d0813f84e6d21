//===- CreateD2MSubgraphs.cpp - elementwise ops that become kernels -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Optimizer/LegalLayouts.h"

#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Shares.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/D2MSubgraphOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNCREATED2MSUBGRAPHS
#define GEN_PASS_DEF_TTNNCOLLASPED2M
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static constexpr llvm::StringLiteral prefix = "d2m_subgraph_";

/// Whether cores have kernels for an elementwise op: it is a row of the tile operations.
static bool isTileOp(Operation *op) {
  static const llvm::StringSet<> rows = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) #row,
#include "ttmlir/Target/TTMetal/TileOps.def"
  };
  return op->hasTrait<trait::Elementwise>() && rows.contains(op->getName().stripDialect());
}

static bool isComputed(ttcore::DataType type) {
  switch (type) {
#define TT_CORE_TYPE(type) case ttcore::DataType::type:
#include "ttmlir/Target/TTMetal/CoreTypes.def"
    return true;
  default:
    return false;
  }
}

/// Tiles that a core has of a tensor of which ttir-to-d2m gives every core a part.
static int64_t tilesOfCore(ArrayRef<int64_t> shape, const ChipMemory &chip) {
  const int64_t columns = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.empty() ? 1 : ShapedType::getNumElements(shape.drop_back());
  const auto share = [](int64_t size, int64_t cores) {
    return ttcore::shareOf(std::max<int64_t>(1, llvm::divideCeil(size, tileHeight)), cores).tiles;
  };
  return share(rows, chip.gridRows) * share(columns, chip.gridColumns);
}

namespace {
struct CreateD2MSubgraphs : ttnn::impl::TTNNCreateD2MSubgraphsBase<CreateD2MSubgraphs> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ttcore::ChipDescAttr desc = chipOf(module);
    if (!desc)
      return signalPassFailure();
    const ChipMemory chip(desc);
    SymbolTable symbols(module);
    llvm::StringSet<> groups; // of a run before
    module.walk([&](D2MSubgraphOp call) { groups.insert(call.getD2mFunc().getLeafReference().getValue()); });
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && function.getBody().hasOneBlock() && !groups.contains(function.getSymName()) &&
          failed(group(function.getBody().front(), chip, symbols)))
        return signalPassFailure();
  }

private:
  using Group = llvm::SmallSetVector<Operation *, 8>;

  /// Whether an op can be in a group: tensors of one type, on the device, with elements.
  static bool isGroupable(Operation *op) {
    if (!isTileOp(op) || op->getNumResults() != 1)
      return false;
    std::optional<ttcore::DataType> dataType;
    for (Type each :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
      auto type = dyn_cast<RankedTensorType>(each);
      TTNNLayoutAttr layout = type ? TTNNLayoutAttr::of(type) : TTNNLayoutAttr();
      if (!layout || !layout.isOnDevice() || !type.hasStaticShape() || type.getNumElements() == 0 ||
          !isComputed(layout.getDataType()) || (dataType && *dataType != layout.getDataType()))
        return false;
      dataType = layout.getDataType();
    }
    // An activation, or another value that tile operations do not have.
    return llvm::all_of(op->getAttrs(), [&](NamedAttribute attribute) {
      return !isInherent(op->getName(), attribute.getName()) || attribute.getName() == "dtype";
    });
  }

  static bool frees(Operation *user) { return isa<DeallocateOp>(user); }

  /// Producers all of whose users are in the group, from an op backwards.
  static Group groupOf(Operation *sink) {
    Group group;
    group.insert(sink);
    for (size_t i = 0; i < group.size(); ++i)
      for (Value operand : group[i]->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == sink->getBlock() && isGroupable(producer) &&
            llvm::all_of(producer->getUsers(), [&](Operation *user) { return group.contains(user) || frees(user); }))
          group.insert(producer);
    return group;
  }

  /// Bytes that tensors take of each core's L1 at an op.
  static int64_t takenAt(Operation *at, const ChipMemory &chip) {
    int64_t bytes = 0;
    const auto add = [&](Value value) {
      TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType());
      if (!layout || layout.getBufferType() != BufferType::L1)
        return;
      if (llvm::any_of(value.getUsers(), [&](Operation *user) {
            Operation *here = at->getBlock()->findAncestorOpInBlock(*user);
            return here && (here == at || at->isBeforeInBlock(here));
          }))
        bytes += layout.isSharded() ? static_cast<int64_t>(layout.getShardBytes())
                                    : static_cast<int64_t>(layout.getShardBytes()) / chip.cores() + 4096;
    };
    for (BlockArgument argument : at->getBlock()->getArguments())
      add(argument);
    for (Operation &op : *at->getBlock()) {
      if (&op == at)
        break;
      for (Value result : op.getResults())
        add(result);
    }
    return bytes;
  }

  /// Whether L1 has room for the operands and results of all ops of a group at once or, as kernels read and write DRAM
  /// in blocks, for these: half of L1, after `taken` bytes.
  static bool fits(const Group &group, const ChipMemory &chip, int64_t taken) {
    if (taken <= chip.usable() / 2)
      return true;
    int64_t bytes = 0;
    llvm::SmallSetVector<Value, 8> values;
    for (Operation *op : group) {
      values.insert(op->getOperands().begin(), op->getOperands().end());
      values.insert(op->getResult(0));
    }
    for (Value value : values) {
      auto type = cast<RankedTensorType>(value.getType());
      ttcore::DataType dataType = TTNNLayoutAttr::of(type).getDataType();
      // Block formats are computed in f32.
      const auto tile = static_cast<int64_t>(
          ttcore::tileBytes(ttcore::isBlockFormat(dataType) ? ttcore::DataType::Float32 : dataType));
      const int64_t tiles = tilesOfCore(type.getShape(), chip);
      if (tiles > chip.usable() / tile)
        return false;
      bytes += tiles * tile;
    }
    return bytes <= chip.usable() - taken;
  }

  /// Whether an op between those of a group writes to what they read: all of them would read it afterwards.
  static bool isWrittenAmid(const Group &group) {
    Operation *last = group.front(), *first = last;
    for (Operation *op : group)
      if (op->isBeforeInBlock(first))
        first = op;
    for (Operation *op = first; op != last; op = op->getNextNode())
      if (!group.contains(op) && !frees(op) && !isMemoryEffectFree(op))
        for (Operation *reader : group)
          for (Value operand : reader->getOperands())
            if (llvm::is_contained(op->getOperands(), operand))
              return true;
    return false;
  }

  static LogicalResult group(Block &block, const ChipMemory &chip, SymbolTable &symbols) {
    SmallVector<Operation *> sinks;
    for (Operation &op : llvm::reverse(block))
      if (isGroupable(&op))
        sinks.push_back(&op);
    DenseSet<Operation *> erased;
    for (Operation *sink : sinks) {
      if (erased.contains(sink))
        continue;
      Group found = groupOf(sink);
      if (found.size() < 2)
        continue;
      const int64_t taken = takenAt(found.front(), chip);
      if (!fits(found, chip, taken) || isWrittenAmid(found))
        continue;
      for (Operation *op : found)
        erased.insert(op);
      if (failed(outline(found, taken, symbols)))
        return failure();
    }
    return success();
  }

  static LogicalResult outline(const Group &found, int64_t taken, SymbolTable &symbols) {
    Operation *sink = found.front();
    SmallVector<Operation *> ops(found.begin(), found.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    llvm::SmallSetVector<Value, 8> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !found.contains(operand.getDefiningOp()))
          inputs.insert(operand);
    Value result = sink->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());

    OpBuilder builder(sink->getContext());
    auto function = func::FuncOp::create(
        builder, sink->getLoc(), (prefix + "0").str(),
        builder.getFunctionType(llvm::map_to_vector(inputs, [](Value v) { return v.getType(); }), TypeRange(type)));
    function.setPrivate();
    if (taken)
      function->setAttr(ttcore::l1TakenName, builder.getI64IntegerAttr(taken));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
      mapping.map(input, argument);
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    func::ReturnOp::create(builder, sink->getLoc(), mapping.lookup(result));
    number(function, symbols);

    builder.setInsertionPoint(sink);
    Value device = getOrCreateDevice(builder, sink, [&](const Twine &why) { sink->emitOpError() << why; });
    if (!device)
      return failure();
    Value output = EmptyOp::create(builder, sink->getLoc(), type, device,
                                   ShapeAttr::get(sink->getContext(), type.getShape()), /*dtype=*/nullptr);
    auto call = D2MSubgraphOp::create(builder, sink->getLoc(), TypeRange(type), inputs.getArrayRef(), output,
                                      FlatSymbolRefAttr::get(function.getSymNameAttr()));
    result.replaceAllUsesWith(call->getResult(0));
    for (Operation *op : llvm::reverse(ops)) {
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        user->erase(); // frees what is no tensor any more
      op->erase();
    }
    // Operands are used until here.
    for (Value input : inputs)
      for (Operation *user : llvm::make_early_inc_range(input.getUsers()))
        if (frees(user) && user->getBlock() == call->getBlock() && user->isBeforeInBlock(call))
          user->moveAfter(call);
    return success();
  }

  /// Gives the function the first name that is free.
  static void number(func::FuncOp function, SymbolTable &symbols) {
    unsigned next = 0;
    while (symbols.lookup((prefix + Twine(next)).str()))
      ++next;
    function.setName((prefix + Twine(next)).str());
    symbols.insert(function);
  }
};

struct CollaspeD2M : ttnn::impl::TTNNCollaspeD2MBase<CollaspeD2M> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<D2MSubgraphOp> calls;
    module.walk([&](D2MSubgraphOp call) { calls.push_back(call); });
    DenseSet<Operation *> inlined;
    for (D2MSubgraphOp call : calls) {
      auto function = dyn_cast_or_null<func::FuncOp>(SymbolTable::lookupNearestSymbolFrom(call, call.getD2mFuncAttr()));
      if (!function || function.isExternal() || !function.getBody().hasOneBlock()) {
        call.emitOpError() << "calls " << call.getD2mFuncAttr()
                           << "; expected a function of this module with one block";
        return signalPassFailure();
      }
      if (failed(inlineCall(call, function)))
        return signalPassFailure();
      inlined.insert(function);
    }
    for (Operation *function : inlined)
      if (SymbolTable::symbolKnownUseEmpty(function, module))
        function->erase();
  }

private:
  static LogicalResult inlineCall(D2MSubgraphOp call, func::FuncOp function) {
    OpBuilder builder(call);
    Value device = getOrCreateDevice(builder, call, [&](const Twine &why) { call.emitOpError() << why; });
    if (!device)
      return failure();
    IRMapping mapping;
    Block &body = function.getBody().front();
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), call.getInputs()))
      mapping.map(argument, input);
    for (Operation &op : body.without_terminator()) {
      if (op.getNumResults() == 1 && isa<DeviceType>(op.getResult(0).getType())) {
        mapping.map(op.getResult(0), device);
        continue;
      }
      // What the function returns has the value of an op of the source.
      Operation *own = builder.clone(op, mapping);
      if (llvm::none_of(op.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }))
        own->setLoc(ttcore::withoutSourceNumber(op.getLoc()));
    }
    SmallVector<Value> outputs(call.getOutputs());
    for (auto [result, value] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    for (Value output : outputs)
      if (Operation *created = output.getDefiningOp();
          created && isa<EmptyOp>(created) && llvm::all_of(created->getUsers(), llvm::IsaPred<DeallocateOp>)) {
        for (Operation *user : llvm::make_early_inc_range(created->getUsers()))
          user->erase();
        created->erase();
      }
    return success();
  }
};
} // namespace
