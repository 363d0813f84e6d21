//===- PrecompiledAll.h - what crosses dialects, precompiled ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see lib/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "PrecompiledOps.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
