//===- FileSplit.cpp - what is evaluated once in a file of its own --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Signatures.h"

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTNNFILESPLIT
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

/// Names of the files; in Python they are module names.
static constexpr StringLiteral mainId = "main", onceId = "consteval";

namespace {
struct FileSplit : tt::impl::TTNNFileSplitBase<FileSplit> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    FailureOr<DenseSet<Operation *>> once = evaluatedOnce(module);
    if (failed(once))
      return signalPassFailure();
    // Without functions there is nothing to move; they may already be in files.
    if (functions.empty())
      return markAllAnalysesPreserved();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Block *main = addFile(builder, mainId), *other = once->empty() ? nullptr : addFile(builder, onceId);
    // While all of them are in one symbol table.
    SmallVector<func::FuncOp> imported;
    llvm::copy_if(functions, std::back_inserter(imported),
                  [&](func::FuncOp function) { return once->contains(function) && isEntry(function, module); });
    for (func::FuncOp function : functions) {
      const bool isOnce = once->contains(function);
      function->moveBefore(isOnce ? other : main, (isOnce ? other : main)->end());
    }
    declare(builder, main, imported);
  }

private:
  using Target = ::mlir::tt::FileSplitTarget;

  Block *addFile(OpBuilder &builder, StringRef id) {
    Location location = getOperation()->getLoc();
    if (target == Target::EmitPy)
      return &emitpy::FileOp::create(builder, location, id).getBody().front();
    Region &body = emitc::FileOp::create(builder, location, id).getBodyRegion();
    return body.empty() ? &body.emplaceBlock() : &body.front();
  }

  static bool isEntry(func::FuncOp function, ModuleOp module) {
    return llvm::any_of(*SymbolTable::getSymbolUses(function, module),
                        [](SymbolTable::SymbolUse use) { return isa<ttcore::LoadCachedOp>(use.getUser()); });
  }

  /// Returns the functions that `load_cached` names, and their callees.
  static FailureOr<DenseSet<Operation *>> evaluatedOnce(ModuleOp module) {
    DenseSet<Operation *> once;
    SmallVector<func::FuncOp> open;
    auto add = [&](StringRef name) {
      auto function = module.lookupSymbol<func::FuncOp>(name);
      if (function && once.insert(function).second)
        open.push_back(function);
    };
    for (auto function : module.getOps<func::FuncOp>())
      function.walk([&](ttcore::LoadCachedOp op) { add(op.getCallee()); });
    while (!open.empty())
      open.pop_back_val().walk([&](func::CallOp op) { add(op.getCallee()); });
    for (auto function : module.getOps<func::FuncOp>()) {
      if (once.contains(function))
        continue;
      WalkResult result = function.walk([&](func::CallOp op) {
        if (!once.contains(module.lookupSymbol<func::FuncOp>(op.getCallee())))
          return WalkResult::advance();
        op.emitOpError() << "calls '" << op.getCallee() << "', which is evaluated once in another place; a function is "
                         << "in one file, " << mainId << " or " << onceId;
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return failure();
    }
    return once;
  }

  /// Declares the functions of the other file in the file that uses them.
  void declare(OpBuilder &builder, Block *main, ArrayRef<func::FuncOp> functions) {
    if (functions.empty())
      return;
    builder.setInsertionPointToStart(main);
    Location location = getOperation()->getLoc();
    if (target == Target::EmitPy) {
      SmallVector<StringRef> names =
          llvm::map_to_vector(functions, [](func::FuncOp function) { return function.getSymName(); });
      emitpy::ImportOp::create(builder, location, builder.getStringAttr(onceId), builder.getStrArrayAttr(names));
    }
    for (func::FuncOp function : functions) {
      auto declared =
          func::FuncOp::create(builder, function.getLoc(), function.getSymName(), function.getFunctionType());
      declared->setDiscardableAttrs(function->getDiscardableAttrDictionary());
      declared.setPrivate();
    }
  }
};
} // namespace

FailureOr<bool> emit::joinFiles(ModuleOp module) {
  SmallVector<Operation *> files;
  for (Operation &op : *module.getBody())
    if (isa<emitpy::FileOp, emitc::FileOp>(op) && !op.getRegion(0).getOps<func::FuncOp>().empty())
      files.push_back(&op);
  for (Operation *file : files)
    for (Operation &op : llvm::make_early_inc_range(file->getRegion(0).front())) {
      auto function = dyn_cast<func::FuncOp>(op);
      // A function of another file, or an import: the module has it.
      if ((function && function.isExternal()) || isa<emitpy::ImportOp>(op)) {
        op.erase();
        continue;
      }
      if (!function)
        return op.emitOpError() << "is in a file of functions of TTNN; expected functions and imports";
      if (module.lookupSymbol(function.getSymName()))
        return function.emitOpError() << "is in two files; expected one function of a name";
      function->moveBefore(module.getBody(), module.getBody()->end());
    }
  for (Operation *file : files)
    file->erase();
  return !files.empty();
}
