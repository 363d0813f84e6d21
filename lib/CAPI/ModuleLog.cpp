//===- ModuleLog.cpp - C API: modules as passes leave them ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir-c/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

using namespace mlir;

void ttmlirLogModules(MlirContext context, void (*callback)(MlirStringRef, MlirStringRef, void *),
                      void (*forget)(void *), void *userData) {
  // Passes on functions would change the module while it is printed.
  unwrap(context)->disableMultithreading();
  unwrap(context)->registerActionHandler([callback, data = std::shared_ptr<void>(userData, forget)](
                                             function_ref<void()> run, const tracing::Action &action) {
    run();
    const auto *execution = dyn_cast<PassExecutionAction>(&action);
    if (!execution || execution->getPass().getArgument().empty()) // which hand ops to passes
      return;
    Operation *root = execution->getOp();
    while (Operation *parent = root->getParentOp())
      root = parent;
    std::string text;
    llvm::raw_string_ostream stream(text);
    root->print(stream, OpPrintingFlags().enableDebugInfo());
    callback(wrap(execution->getPass().getArgument()), wrap(StringRef(text)), data.get());
  });
}
