//===- Passes.h - lowering of D2M to TTKernel and TTMetal -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_H
#define TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"

/// The attribute of a d2m.get_arg whose buffer is the memory of a circular buffer: the number of the compile-time
/// argument that holds the port.
inline constexpr llvm::StringLiteral portArgumentName = "port_argument";

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_H
