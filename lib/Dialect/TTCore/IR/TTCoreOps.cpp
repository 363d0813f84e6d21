//===- TTCoreOps.cpp - ops of the TTCore dialect --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt::ttcore;

#define GET_OP_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreOps.cpp.inc"

static LogicalResult verifyHoldsOneModule(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (!llvm::hasSingleElement(body) || !isa<ModuleOp>(body.front()))
    return op->emitOpError("holds ") << std::distance(body.begin(), body.end())
                                     << " ops; expected one builtin.module and nothing else";
  return success();
}

LogicalResult DeviceModuleOp::verify() { return verifyHoldsOneModule(*this); }
LogicalResult CPUModuleOp::verify() { return verifyHoldsOneModule(*this); }

LogicalResult OptimizationBarrierOp::verify() {
  if (getInputs().getTypes() != getResults().getTypes())
    return emitOpError("passes its inputs on; expected the types of inputs and results to be equal");
  return success();
}

LogicalResult LoadCachedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '") << getCallee() << "', which is not a function of this module";
  auto check = [&](StringRef what, TypeRange found, ArrayRef<Type> expected) -> LogicalResult {
    if (found.size() != expected.size())
      return emitOpError() << "has " << found.size() << ' ' << what << "s but '" << getCallee() << "' "
                           << expected.size();
    for (auto [index, types] : llvm::enumerate(llvm::zip_equal(found, expected)))
      if (std::get<0>(types) != std::get<1>(types))
        return emitOpError() << what << ' ' << index << " is " << std::get<0>(types) << " but '" << getCallee()
                             << "' has " << std::get<1>(types);
    return success();
  };
  if (failed(check("input", getInputs().getTypes(), callee.getArgumentTypes())))
    return failure();
  return check("result", getResults().getTypes(), callee.getResultTypes());
}
