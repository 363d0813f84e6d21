//===- Passes.h - lowering of TTNN to EmitC and EmitPy ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_H
#define TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_H

#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

/// The language of the files that `ttnn-file-split` makes.
enum class FileSplitTarget : uint8_t { EmitPy, EmitC };

#define GEN_PASS_DECL
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_H
