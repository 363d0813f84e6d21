//===- GenericRegionsToFuncs.cpp - outlining of threads to functions ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MGENERICREGIONSTOFUNCS
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

static std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().skipRegions(false));
  return text;
}

namespace {
struct GenericRegionsToFuncs : d2m::impl::D2MGenericRegionsToFuncsBase<GenericRegionsToFuncs> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<GenericOp> generics;
    module.walk([&](GenericOp generic) { generics.push_back(generic); });
    for (GenericOp generic : generics) {
      const SmallVector<int64_t> cbOperands = cbOperandsOf(generic);
      generic->setAttr(cbOperandsName, DenseI64ArrayAttr::get(&getContext(), cbOperands));
      if (SmallVector<int64_t> sources = sourceOperandsOf(generic); !sources.empty())
        generic->setAttr(sourceOperandsName, DenseI64ArrayAttr::get(&getContext(), sources));
      if (forceCompileTimeArgs)
        generic->setAttr(compileTimeArgsName, UnitAttr::get(&getContext()));
      SmallVector<Attribute> threads;
      for (Region &region : generic.getRegions()) {
        FailureOr<ThreadAttr> thread = outline(generic, region, symbols, cbOperands);
        if (failed(thread))
          return signalPassFailure();
        threads.push_back(*thread);
      }
      generic.setThreadsAttr(ArrayAttr::get(&getContext(), threads));
    }
  }

private:
  /// The operands whose circular buffers a thread uses.
  static SmallVector<int64_t> cbOperandsOf(GenericOp generic) {
    SmallVector<int64_t> used;
    for (unsigned number = 0; number < generic->getNumOperands(); ++number)
      if (llvm::any_of(generic.getRegions(), [&](Region &region) {
            return number < region.getNumArguments() && !region.getArgument(number).use_empty();
          }))
        used.push_back(number);
    return used;
  }

  /// The operands from whose circular buffers the matrix unit reads tiles.
  static SmallVector<int64_t> sourceOperandsOf(GenericOp generic) {
    llvm::SmallSetVector<int64_t, 4> used;
    for (Region &region : generic.getRegions())
      region.walk([&](Operation *op) {
        for (Value buffer : matrixUnitSources(op))
          if (auto wait = buffer.getDefiningOp<WaitOp>())
            if (auto argument = dyn_cast<BlockArgument>(wait.getCb()))
              used.insert(argument.getArgNumber());
      });
    return llvm::to_vector(used);
  }

  /// Turns operands of the generic that a thread uses directly into arguments of the kernel.
  LogicalResult passOperands(GenericOp generic, Region &region, size_t ports) {
    OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
    DenseMap<Value, Value> arguments;
    WalkResult result = region.walk([&](Operation *op) {
      for (OpOperand &use : op->getOpOperands()) {
        Value value = use.get();
        if (region.isAncestor(value.getParentRegion()))
          continue;
        const auto operands = generic->getOperands();
        auto found = llvm::find(operands, value);
        if (found == operands.end()) {
          op->emitOpError() << "uses a value from outside of its thread that is no operand of its d2m.generic";
          return WalkResult::interrupt();
        }
        Value &argument = arguments[value];
        const int64_t number = std::distance(operands.begin(), found);
        if (!argument && forceCompileTimeArgs)
          argument = GetArgOp::create(builder, value.getLoc(), value.getType(),
                                      builder.getI64IntegerAttr(static_cast<int64_t>(ports) + number),
                                      ResolutionStageAttr::get(&getContext(), ResolutionStage::Compile));
        else if (!argument)
          argument = GetArgOp::create(builder, value.getLoc(), value.getType(), builder.getI64IntegerAttr(number),
                                      ResolutionStageAttr());
        use.set(argument);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Notes which addresses of a kernel belong to an accessor. Its arguments are behind all others of the compile time.
  void markAccessors(GenericOp generic, func::FuncOp function, size_t ports) {
    auto operands = generic->getAttrOfType<DenseI64ArrayAttr>(tensorAccessorsName);
    if (!operands)
      return;
    const auto before = static_cast<int64_t>(forceCompileTimeArgs ? ports : 0);
    const auto first = static_cast<int64_t>(ports + (forceCompileTimeArgs ? generic->getNumOperands() : 0));
    SmallVector<int64_t> pairs;
    for (auto [number, operand] : llvm::enumerate(operands.asArrayRef())) {
      const int64_t address = before + operand;
      function.walk([&](GetArgOp get) {
        if (isa<MemRefType>(get.getType()) && static_cast<int64_t>(get.getOperandIndex()) == address)
          pairs.append({address, first + argumentsOfAccessor * static_cast<int64_t>(number)});
      });
    }
    if (!pairs.empty())
      function->setAttr(tensorAccessorsName, DenseI64ArrayAttr::get(&getContext(), pairs));
  }

  /// The thread with the name of its kernel. The region becomes empty.
  FailureOr<ThreadAttr> outline(GenericOp generic, Region &region, SymbolTable &symbols, ArrayRef<int64_t> cbOperands) {
    ThreadAttr thread = generic.threadOf(region);
    if (thread.getKernelSymbol())
      return thread;
    if (!region.hasOneBlock())
      return generic.emitOpError() << "region " << region.getRegionNumber() << " has " << llvm::range_size(region)
                                   << " blocks; a kernel has one";
    if (failed(passOperands(generic, region, cbOperands.size())))
      return failure();
    OpBuilder builder(&getContext());
    auto function = func::FuncOp::create(builder, generic.getLoc(), "kernel", builder.getFunctionType({}, {}));
    function.setPrivate();
    function->setAttr("d2m.thread",
                      ThreadAttr::get(&getContext(), thread.getThreadType(), SymbolRefAttr(), thread.getDmCoreIndex()));
    function.getBody().takeBody(region);
    markAccessors(generic, function, cbOperands.size());
    Block &body = function.getBody().front();
    builder.setInsertionPointToStart(&body);
    for (BlockArgument argument : body.getArguments()) {
      if (!isa<CBType>(argument.getType())) {
        auto error = generic.emitOpError() << "argument " << argument.getArgNumber() << " of a thread is "
                                           << argument.getType() << "; expected a !d2m.cb";
        function.erase();
        return error;
      }
      if (argument.use_empty())
        continue;
      Value cb = GetCBOp::create(
          builder, argument.getLoc(), argument.getType(),
          builder.getI64IntegerAttr(std::distance(cbOperands.begin(), llvm::find(cbOperands, argument.getArgNumber()))),
          ResolutionStageAttr());
      argument.replaceAllUsesWith(cb);
    }
    body.eraseArguments(0, body.getNumArguments());
    builder.setInsertionPointToEnd(&body);
    func::ReturnOp::create(builder, generic.getLoc());

    // The first of all equal kernels.
    auto [known, isNew] = kernels.try_emplace(textOf(function), "");
    if (isNew) {
      function.setName(
          (stringifyThreadType(thread.getThreadType()) + "_kernel" + llvm::Twine(kernels.size() - 1)).str());
      symbols.insert(function);
      known->second = function.getSymName().str();
    } else {
      function.erase();
    }
    return ThreadAttr::get(&getContext(), thread.getThreadType(), SymbolRefAttr::get(&getContext(), known->second),
                           thread.getDmCoreIndex());
  }

  llvm::StringMap<std::string> kernels;
};
} // namespace
