//===- ElementTypes.h - element types that families of ops need -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_SHAPES_ELEMENTTYPES_H
#define TTMLIR_LIB_DIALECT_SHAPES_ELEMENTTYPES_H

#include "ttmlir/Dialect/Shapes/Shapes.h"

namespace mlir::tt::shapes {

/// Verifies the element types of operands and results by the op's shape rule, for rules that restrict the declared
/// type. The op has the number of operands and results that its rule needs.
LogicalResult verifyElementTypes(const OpShapes &shapes, const Subject &subject);

} // namespace mlir::tt::shapes

#endif // TTMLIR_LIB_DIALECT_SHAPES_ELEMENTTYPES_H
