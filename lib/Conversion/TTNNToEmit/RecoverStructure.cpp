//===- RecoverStructure.cpp - recovery of functions from op names ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"

#include "Calls.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTNNRECOVERSTRUCTURE
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// The parts of a name: "encoder/layer_0/query" is query in layer_0 in encoder. Slashes separate before dots, which are
/// then part of names.
static SmallVector<std::string> split(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, name.contains('/') ? '/' : '.', -1, /*KeepEmpty=*/false);
  return llvm::map_to_vector(parts, [](StringRef part) { return part.str(); });
}

/// Ops that stay in the program, at its head: they belong to no part.
static bool staysOutside(Operation *op) { return op->hasTrait<trait::RunsOnce>() || isa<ttnn::ConstantOp>(op); }

static bool isWork(Operation *op) { return !isa<ttnn::DeallocateOp>(op); }

namespace {
/// An op, the parts that contain it, and its name there.
struct Entry {
  Operation *op;
  SmallVector<std::string> parts;
  std::string name;

  /// Drops the names of the part at `depth` and of enclosing ones, for a function of that part.
  void renameWithin(size_t depth) const {
    if (name.empty())
      return;
    SmallVector<std::string> rest(llvm::drop_begin(parts, std::min(depth + 1, parts.size())));
    rest.push_back(name);
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), llvm::join(rest, "/"))));
  }
};

struct RecoverStructure : mlir::tt::impl::TTNNRecoverStructureBase<RecoverStructure> {
  void runOnOperation() override {
    symbols.emplace(getOperation());
    SmallVector<func::FuncOp> programs;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (!function.isPrivate() && !function.isExternal() && function.getBody().hasOneBlock())
        programs.push_back(function);
    for (func::FuncOp program : programs)
      recover(program);
    symbols.reset();
  }

private:
  void recover(func::FuncOp program) {
    Block &body = program.getBody().front();
    moveOutside(body);
    SmallVector<Entry> entries;
    for (Operation &op : body.without_terminator()) {
      auto producer = isWork(&op) ? nullptr : op.getOperand(0).getDefiningOp();
      if (staysOutside(&op) || (producer && staysOutside(producer)))
        continue;
      Entry entry{&op, split(emit::nameOf(op.getLoc())), ""};
      if (!entry.parts.empty())
        entry.name = entry.parts.pop_back_val();
      // An unnamed op belongs with those before it, and a tensor is freed where it was last used, whatever its name.
      if ((entry.name.empty() || !isWork(&op)) && !entries.empty())
        entry.parts = entries.back().parts;
      entries.push_back(std::move(entry));
    }
    makeParts(program, entries, 0, {});
  }

  /// Moves values that depend only on arguments and constants to the front; they are freed at the end.
  static void moveOutside(Block &body) {
    SmallVector<ttnn::DeallocateOp> frees(body.getOps<ttnn::DeallocateOp>());
    for (ttnn::DeallocateOp free : frees)
      if (Operation *producer = free->getOperand(0).getDefiningOp(); producer && staysOutside(producer))
        free->moveBefore(body.getTerminator());
    Operation *place = nullptr;
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      auto isBefore = [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return !producer ||
               (staysOutside(producer) && (place && (producer == place || producer->isBeforeInBlock(place))));
      };
      if (!staysOutside(&op) || !llvm::all_of(op.getOperands(), isBefore))
        continue;
      if (place)
        op.moveAfter(place);
      else
        op.moveBefore(&body.front());
      place = &op;
    }
  }

  /// Creates functions from runs of entries that are in one part at `depth`. `function` holds the entries.
  void makeParts(func::FuncOp function, ArrayRef<Entry> entries, size_t depth, SmallVector<std::string> path) {
    auto partAt = [](const Entry &entry, size_t at) {
      return at < entry.parts.size() ? StringRef(entry.parts[at]) : StringRef();
    };
    // A part that contains everything carries no information.
    while (!entries.empty() && !partAt(entries.front(), depth).empty() &&
           llvm::all_of(entries, [&](const Entry &each) { return partAt(each, depth) == partAt(entries[0], depth); }))
      path.push_back(entries.front().parts[depth++]);
    for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
      StringRef part = partAt(entries[begin], depth);
      while (end < entries.size() && partAt(entries[end], depth) == part)
        ++end;
      ArrayRef<Entry> run = entries.slice(begin, end - begin);
      if (part.empty() || llvm::count_if(run, [](const Entry &each) { return isWork(each.op); }) < 2)
        continue;
      SmallVector<std::string> inner = path;
      inner.push_back(part.str());
      SmallVector<Entry> moved;
      if (func::FuncOp created = outline(function, run, depth, llvm::join(inner, "_"), part, moved))
        makeParts(created, moved, depth + 1, inner);
    }
  }

  /// Moves ops that are adjacent, or separated only by ops that stay, into a function. `moved` are the entries of the
  /// function.
  func::FuncOp outline(func::FuncOp function, ArrayRef<Entry> run, size_t depth, StringRef name, StringRef part,
                       SmallVectorImpl<Entry> &moved) {
    llvm::SmallPtrSet<Operation *, 16> inside;
    for (const Entry &entry : run)
      inside.insert(entry.op);
    // If an op that stays in between depends on the part, or the other way round, the part is not a function.
    for (Operation *op = run.front().op; op != run.back().op; op = op->getNextNode())
      if (!inside.contains(op))
        return {};
    llvm::SetVector<Value> inputs, outputs, devices;
    for (const Entry &entry : run)
      for (Value operand : entry.op->getOperands())
        if (Operation *producer = operand.getDefiningOp(); !producer || !inside.contains(producer))
          (producer && isa<ttnn::GetDeviceOp>(producer) ? devices : inputs).insert(operand);
    for (const Entry &entry : run)
      for (Value result : entry.op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
          outputs.insert(result);

    MLIRContext *context = &getContext();
    auto typesOf = [](ArrayRef<Value> values) {
      return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
    };
    Location location = NameLoc::get(StringAttr::get(context, part));
    std::string symbol = emit::identifierOf(name);
    OpBuilder builder(function);
    auto created =
        func::FuncOp::create(builder, location, symbol.empty() ? "part" : symbol,
                             builder.getFunctionType(typesOf(inputs.getArrayRef()), typesOf(outputs.getArrayRef())));
    created.setPrivate();
    symbols->insert(created, function->getIterator());

    builder.setInsertionPoint(run.front().op);
    auto call = func::CallOp::create(builder, location, created, inputs.getArrayRef());
    Block *body = created.addEntryBlock();
    for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
      argument.setLoc(nameFor(input, builder));
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(inputs.getArrayRef(), body->getArguments());
    for (Value device : devices)
      mapping.map(device, builder.clone(*device.getDefiningOp())->getResult(0));
    for (const Entry &entry : run) {
      entry.op->remove();
      body->push_back(entry.op);
      for (OpOperand &operand : entry.op->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
      moved.push_back(entry);
    }
    for (auto [output, result] : llvm::zip(outputs, call.getResults()))
      Value(output).replaceUsesWithIf(result, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, location, outputs.getArrayRef());
    // Several results are named by their meaning.
    if (outputs.size() > 1) {
      SmallVector<Attribute> names;
      for (Value output : outputs) {
        std::string own = emit::nameOf(output.getLoc());
        names.push_back(builder.getStringAttr(own.empty() ? part : StringRef(own)));
      }
      call->setAttr(emit::namesAttr, builder.getArrayAttr(names));
    }
    for (const Entry &entry : run)
      entry.renameWithin(depth);
    return created;
  }

  /// A location with the name of a value.
  static Location nameFor(Value value, Builder &builder) {
    std::string name = emit::nameOf(value.getLoc());
    if (name.empty())
      name = emit::nameByUse(value);
    if (name.empty())
      return UnknownLoc::get(builder.getContext());
    // Inside its own part, a value has its own name.
    SmallVector<std::string> parts = split(name);
    return NameLoc::get(builder.getStringAttr(parts.empty() ? name : parts.back()));
  }

  std::optional<SymbolTable> symbols;
};
} // namespace
