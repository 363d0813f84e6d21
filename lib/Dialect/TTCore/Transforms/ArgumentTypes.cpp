//===- ArgumentTypes.cpp - argument types of functions --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTPOPULATEARGUMENTTYPES
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;

namespace {
struct PopulateArgumentTypes : ttcore::impl::TTPopulateArgumentTypesBase<PopulateArgumentTypes> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<StringRef> entries;
    StringRef(argumentTypes.getValue()).split(entries, ';');
    for (StringRef entry : entries)
      if (!entry.trim().empty() && failed(populate(entry.trim())))
        return signalPassFailure();
  }

private:
  InFlightDiagnostic refuse() { return getOperation().emitError() << "argument-types: "; }

  /// One function: `name=input,parameter`.
  LogicalResult populate(StringRef entry) {
    auto [name, list] = entry.split('=');
    if (name.size() == entry.size())
      return refuse() << "'" << entry << "' is not a function's name, '=' and the types of its arguments";
    auto function = getOperation().lookupSymbol<func::FuncOp>(name.trim());
    if (!function)
      return refuse() << "the module has no function '" << name.trim() << "'";
    SmallVector<StringRef> types;
    list.split(types, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/!list.trim().empty());
    if (types.size() != function.getNumArguments())
      return refuse() << types.size() << " types for '" << name.trim() << "', which has " << function.getNumArguments()
                      << " arguments";
    for (auto [index, type] : llvm::enumerate(types)) {
      std::optional<ttcore::ArgumentType> kind = ttcore::symbolizeArgumentType(type.trim());
      if (!kind)
        return refuse() << "argument " << index << " of '" << name.trim() << "' is '" << type.trim()
                        << "'; expected input, parameter, constant or default";
      function.setArgAttr(index, ttcore::argumentTypeName, ttcore::ArgumentTypeAttr::get(&getContext(), *kind));
    }
    return success();
  }
};
} // namespace
