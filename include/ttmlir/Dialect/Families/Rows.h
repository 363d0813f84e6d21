//===- Rows.h - ops without a class of their own ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_ROWS_H
#define TTMLIR_DIALECT_FAMILIES_ROWS_H

#include "mlir/IR/OpDefinition.h"

#include <memory>

namespace mlir::tt {

namespace trait {
/// Marks ops that share a class (Rows.td).
template <class ConcreteOp> class Row : public OpTrait::TraitBase<ConcreteOp, Row> {};
} // namespace trait

/// Registers an op of this name and identity. Its hooks are those of `family`, the model of a class.
void registerRow(Dialect &dialect, StringRef name, TypeID id, std::unique_ptr<OperationName::Impl> family);

/// Registers ops that equal those of the class `Family` except for their names.
template <class Family> void registerRows(Dialect &dialect, ArrayRef<StringRef> names) {
  static_assert(std::is_same_v<typename Family::Properties, EmptyProperties>, "an op of a row has no attributes");
  // One for each op, shared by all contexts.
  static const std::unique_ptr<SelfOwningTypeID[]> ids(new SelfOwningTypeID[names.size()]);
  for (size_t i = 0; i < names.size(); ++i)
    registerRow(dialect, names[i], ids[i].getTypeID(),
                std::unique_ptr<OperationName::Impl>(new RegisteredOperationName::Model<Family>(&dialect)));
}

/// Returns whether an op is one of those that share the class `Family`.
template <class Family> bool hasRowClass(Operation *op) { return op->getName().hasTrait(TypeID::get<Family>()); }

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_ROWS_H
