//===- ArgRoles.h - kernels whose inputs are read or written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_ARGROLES_H
#define TTMLIR_DIALECT_FAMILIES_ARGROLES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::tt {

/// The types of the inputs that a kernel writes. Roles are in, out or inout, one per input.
inline LogicalResult writtenTypes(StringRef argRoles, ValueRange inputs, SmallVectorImpl<Type> &written,
                                  function_ref<LogicalResult(const Twine &)> emitError) {
  SmallVector<StringRef> roles;
  argRoles.split(roles, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (roles.size() != inputs.size())
    return emitError("attribute 'arg_roles' has " + Twine(roles.size()) + " roles for " + Twine(inputs.size()) +
                     " inputs");
  for (auto [role, input] : llvm::zip(roles, inputs)) {
    StringRef name = role.trim();
    if (name != "in" && name != "out" && name != "inout")
      return emitError("attribute 'arg_roles' has \"" + name + "\"; expected in, out or inout");
    if (name != "in")
      written.push_back(input.getType());
  }
  return success();
}

/// Verifies that each written input has a result of its type.
template <class Op> LogicalResult verifyArgRoles(Op op) {
  SmallVector<Type> written;
  if (failed(writtenTypes(op.getArgRoles(), op.getInputs(), written,
                          [&](const Twine &text) -> LogicalResult { return op.emitOpError() << text; })))
    return failure();
  if (TypeRange(written) != TypeRange(op->getResultTypes()))
    return op.emitOpError("has results of types ")
           << op->getResultTypes() << "; expected those of the written inputs, " << written;
  return success();
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_ARGROLES_H
