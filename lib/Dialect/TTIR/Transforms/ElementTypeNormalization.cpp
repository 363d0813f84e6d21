//===- ElementTypeNormalization.cpp - legalization of element types -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Integers.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRELEMENTTYPENORMALIZATION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct ElementTypeNormalization : ttir::impl::TTIRElementTypeNormalizationBase<ElementTypeNormalization> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](RankedTensorType type) -> std::optional<std::pair<Type, WalkResult>> {
      return {{normalize(type), WalkResult::skip()}};
    });
    ttir::NarrowIntegers narrow;
    Operation *wide = nullptr; // the first of 64-bit integers that are not known
    WalkResult checked = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The host has types of its own.
      if (isa<ttcore::CPUModuleOp>(op))
        return WalkResult::skip();
      if (failed(check(op)) || failed(ttir::checkKnownIntegers(op)) || failed(narrow.collect(op)))
        return WalkResult::interrupt();
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (!wide && (function ? has64BitArguments(function) : ttir::has64BitResults(op)))
        wide = op;
      return WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    if (wide)
      mlir::emitWarning(wide->getLoc())
          << "'" << wide->getName() << "' op has 64-bit integers, which the chip holds in 32 bits; inputs that do not "
          << "fit are refused when the program runs, and results wrap around";

    bool changed = false;
    auto replace = [&](Value value) {
      Type type = replacer.replace(value.getType());
      changed |= type != value.getType();
      value.setType(type);
    };
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ttcore::CPUModuleOp>(op))
        return WalkResult::skip();
      for (Value value : op->getResults())
        replace(value);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            replace(argument);
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        changed |= normalizeSignature(function, replacer);
      return WalkResult::advance();
    });
    changed |= narrow.rewrite();
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Whether the type has no encoding of another dialect and no tiles: such types are not changed.
  static bool isPlain(RankedTensorType type) {
    return !isa<ttcore::TileType>(type.getElementType()) &&
           (!type.getEncoding() || isa<ttcore::TensorMeshAttr>(type.getEncoding()));
  }

  static RankedTensorType normalize(RankedTensorType type) {
    if (!isPlain(type))
      return type;
    std::optional<ttcore::DataType> dataType = ttcore::elementTypeToDataType(type.getElementType());
    if (!dataType)
      return type;
    return type.clone(ttcore::dataTypeToElementType(type.getContext(), *dataType));
  }

  static bool isNormalizable(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !isPlain(tensor) || ttcore::elementTypeToDataType(tensor.getElementType());
  }

  static bool has64BitArguments(FunctionOpInterface function) {
    return llvm::any_of(function.getArgumentTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getElementType().isInteger(64);
    });
  }

  static LogicalResult check(Operation *op) {
    for (OpResult result : op->getResults())
      if (!isNormalizable(result.getType()))
        return op->emitOpError() << "result " << result.getResultNumber() << " is " << result.getType()
                                 << "; no data format of the chip holds its elements";
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
        if (!isNormalizable(type))
          return op->emitOpError() << "argument " << index << " is " << type
                                   << "; no data format of the chip holds its elements";
    return success();
  }

  static bool normalizeSignature(FunctionOpInterface function, AttrTypeReplacer &replacer) {
    DictionaryAttr before = function->getAttrDictionary();
    function.setType(replacer.replace(function.getFunctionType()));
    // Local shapes of distributed arguments and results.
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (DictionaryAttr attrs = function.getArgAttrDict(i))
        function.setArgAttrs(i, cast<DictionaryAttr>(replacer.replace(attrs)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (DictionaryAttr attrs = function.getResultAttrDict(i))
        function.setResultAttrs(i, cast<DictionaryAttr>(replacer.replace(attrs)));
    return function->getAttrDictionary() != before;
  }
};
} // namespace
