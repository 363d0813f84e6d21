//===- Create.h - creating and registering ops ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_CREATE_H
#define TTMLIR_DIALECT_FAMILIES_CREATE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tt {

/// Equals `ConcreteOp::create(builder, location, arguments...)` for any of the op's `build` functions. This one
/// template replaces the two functions that mlir-tblgen generates for each of them (tools/opgen/split.py).
template <class ConcreteOp, class... Arguments>
ConcreteOp createOp(OpBuilder &builder, Location location, Arguments &&...arguments) {
  OperationState state(location, ConcreteOp::getOperationName());
  ConcreteOp::build(builder, state, std::forward<Arguments>(arguments)...);
  return cast<ConcreteOp>(builder.create(state));
}

/// The same at the builder's own location.
template <class ConcreteOp, class... Arguments>
  requires(!std::is_convertible_v<std::tuple_element_t<0, std::tuple<Arguments..., void *>>, Location>)
ConcreteOp createOp(ImplicitLocOpBuilder &builder, Arguments &&...arguments) {
  return createOp<ConcreteOp>(static_cast<OpBuilder &>(builder), builder.getLoc(),
                              std::forward<Arguments>(arguments)...);
}

/// Replaces `RegisteredOperationName::insert`, which would instantiate a `std::unique_ptr` of its own type for each op:
/// 6 % of the time that compiling the op takes.
template <class ConcreteOp> void registerOp(Dialect &dialect) {
  RegisteredOperationName::insert(
      std::unique_ptr<OperationName::Impl>(new RegisteredOperationName::Model<ConcreteOp>(&dialect)),
      ConcreteOp::getAttributeNames());
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_CREATE_H
