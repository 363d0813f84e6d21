//===- Calls.h - mapping of TTNN ops to library calls -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTNNTOEMIT_CALLS_H
#define TTMLIR_LIB_CONVERSION_TTNNTOEMIT_CALLS_H

#include "Syntax.h"

namespace mlir::tt::emit {

/// An argument of a call, in the public order of parameters.
struct Argument {
  enum class Kind {
    Left,    // left out
    Tensor,  // operands[0]
    Tensors, // a list of operands
    Device,
    Text, // an expression
  };
  StringRef name;
  Kind kind = Kind::Left;
  bool isKeyword = false; // Python gives it by name
  SmallVector<Value, 1> operands;
  /// The expression; for an omitted argument, what may be written there.
  std::string text;
};

struct Call {
  std::string callee;
  SmallVector<Argument> arguments;
  bool needsDevice() const {
    return llvm::any_of(arguments, [](const Argument &each) { return each.kind == Argument::Kind::Device; });
  }
};

/// The call that does what an op of TTNN does, by the op's function (tools/opgen). An op without one, or with
/// attributes that the library cannot take, is reported.
FailureOr<Call> callOf(Operation *op, const Syntax &syntax);

/// The name requested for an unnamed constant: its role in the op that uses it, "layer_norm_bias". Empty if it is not
/// known.
std::string nameByUse(Value value);
/// Names for the results of ops with several results, by their meaning; empty for other ops.
SmallVector<StringRef> resultNames(Operation *op);

/// The preferred name for the results of an op or for an argument: that of its location, or "" if that is only a
/// position in a file.
std::string nameOf(Location location);

} // namespace mlir::tt::emit

#endif // TTMLIR_LIB_CONVERSION_TTNNTOEMIT_CALLS_H
