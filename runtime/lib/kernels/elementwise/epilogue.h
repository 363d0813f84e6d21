//===- epilogue.h - elementwise epilogues of other kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Bias shapes and activations that the kernel library does not fuse are passes of the elementwise kernels over the
// heavy kernel's f32 result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"

namespace tt::ttnn {

/// The operations that follow the heavy part of an op.
struct Epilogue {
  /// An operand of the op to add, broadcast against the result; -1: none.
  int bias = -1;
  /// A unary elementwise op, "relu"; empty: none.
  std::string activation;
  bool empty() const { return bias < 0 && activation.empty(); }
};

/// The name in the elementwise table of a fused activation as configs write it; throws OpError if it is not known.
std::string activationName(const OpCall &call, std::string_view name);
/// The activation of an op's "activation" string, of its conv2d_config or of its matmul_program_config; empty if there
/// is none.
std::string activationOf(const OpCall &call);

/// `inner` writes `produced` values of the result's shape, from the op's operands; the epilogue and the rounding to the
/// result's type follow.
std::unique_ptr<Kernel> withEpilogue(const OpCall &call, std::unique_ptr<Kernel> inner, DataType produced,
                                     const Epilogue &epilogue);

} // namespace tt::ttnn
