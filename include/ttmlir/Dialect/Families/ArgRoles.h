//===- ArgRoles.h - kernels whose inputs are read or written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_ARGROLES_H
#define TTMLIR_DIALECT_FAMILIES_ARGROLES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::tt {

/// Roles are in, out or inout, one per input; each written input has a result of its type.
template <class Op> LogicalResult verifyArgRoles(Op op) {
  SmallVector<StringRef> roles;
  op.getArgRoles().split(roles, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (roles.size() != op.getInputs().size())
    return op.emitOpError("attribute 'arg_roles' has ")
           << roles.size() << " roles for " << op.getInputs().size() << " inputs";
  SmallVector<Type> written;
  for (auto [role, input] : llvm::zip(roles, op.getInputs())) {
    StringRef name = role.trim();
    if (name != "in" && name != "out" && name != "inout")
      return op.emitOpError("attribute 'arg_roles' has \"") << name << "\"; expected in, out or inout";
    if (name != "in")
      written.push_back(input.getType());
  }
  if (TypeRange(written) != TypeRange(op->getResultTypes()))
    return op.emitOpError("has results of types ")
           << op->getResultTypes() << "; expected those of the written inputs, " << written;
  return success();
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_ARGROLES_H
