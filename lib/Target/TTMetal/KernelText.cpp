//===- KernelText.cpp - C++ source of kernels -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTMetal/KernelText.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/Cpp/CppEmitter.h"

using namespace mlir;
using namespace mlir::tt;

static constexpr StringLiteral movementHeaders = "#include \"dataflow_api.h\"\n\n";
static constexpr StringLiteral computeHeaders = R"(#include "compute_kernel_api.h"
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/eltwise_binary_sfpu.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/sfpu_split_includes.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/tilize.h"
#include "compute_kernel_api/untilize.h"

)";

FailureOr<std::string> ttmetal::kernelText(func::FuncOp kernel) {
  auto thread = kernel->getAttrOfType<d2m::ThreadAttr>(ttkernel::threadName);
  Operation *other = nullptr;
  kernel.walk([&](Operation *op) {
    if (op != kernel && !other && !isa_and_nonnull<emitc::EmitCDialect, func::FuncDialect>(op->getDialect()))
      other = op;
  });
  if (!thread)
    return kernel.emitOpError() << "has no attribute '" << ttkernel::threadName << "'; it is no kernel";
  if (other)
    return other->emitError() << "'" << other->getName()
                              << "' cannot be written as C++; run ttir-to-ttmetal-pipeline first";
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto copy = cast<func::FuncOp>(builder.clone(*kernel));
  copy.setName("kernel_main");
  std::string body;
  llvm::raw_string_ostream stream(body);
  if (failed(emitc::translateToCpp(*module, stream)))
    return failure();
  StringRef code = StringRef(body).trim();
  if (thread.getThreadType() != d2m::ThreadType::Compute)
    return (movementHeaders + code + "\n").str();
  // Each processor has its own name for the function, behind a macro.
  if (!code.consume_front("void kernel_main()"))
    return kernel.emitOpError() << "does not start with its function, but with '"
                                << code.take_until([](char c) { return c == '\n'; }) << "'";
  return (computeHeaders + "namespace NAMESPACE {\nvoid MAIN" + code + "\n} // namespace NAMESPACE\n").str();
}
