//===- CompositeAttributes.h - attributes of several VHLO attributes - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_COMPOSITEATTRIBUTES_H
#define TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_COMPOSITEATTRIBUTES_H

#include "Data.h"

namespace mlir::vhlo {

/// The StableHLO attribute for the parts of `whole` in an op of this row, given as VHLO attributes: null if they
/// represent none. Fails after an error.
FailureOr<Attribute> assemble(const OpRow &row, StringRef whole, DictionaryAttr parts, Emit emitError);

/// A part of a StableHLO attribute, as a VHLO attribute, or null if the attribute has no such part.
Attribute partOfWhole(Attribute whole, StringRef part);

} // namespace mlir::vhlo

#endif // TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_COMPOSITEATTRIBUTES_H
