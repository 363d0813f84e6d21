//===- Data.h - attributes and types between the dialects -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_DATA_H
#define TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_DATA_H

#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::vhlo {

/// Begins an error that names the op.
using Emit = function_ref<InFlightDiagnostic()>;

/// The builtin or StableHLO type or attribute of a VHLO one; others are unchanged. Null after an error.
Type toBuiltin(Type type, Emit emitError);
Attribute toBuiltin(Attribute attribute, Emit emitError);

/// The VHLO type or attribute of a builtin or StableHLO one, or null without an error if there is none. Parts of arrays
/// and dictionaries that have none stay, if `allowOthers`.
Type toVhlo(Type type, bool allowOthers);
Attribute toVhlo(Attribute attribute, bool allowOthers);

/// VHLO attributes that conversions create.
VhloAttr makeString(MLIRContext *context, StringRef text);
VhloAttr makeBool(MLIRContext *context, bool value);
VhloAttr makeArray(MLIRContext *context, ArrayRef<Attribute> values);
VhloAttr makeEnum(MLIRContext *context, StringRef mnemonic, StringRef value);
VhloAttr makeInteger(MLIRContext *context, int64_t value);
VhloAttr makeTensor(DenseElementsAttr elements);
/// Returns a tensor of rank 1, or of the given shape.
VhloAttr makeTensor(MLIRContext *context, ArrayRef<int64_t> values, ArrayRef<int64_t> shape = {});
VhloAttr makeNoType(MLIRContext *context);
VhloAttr makeDefaultAccuracy(MLIRContext *context);

/// Returns the value of an attribute that an op omits, or null if the row has no default. Operands are those of the op
/// in either dialect.
Attribute defaultOf(const Inherent &inherent, Operation *op);
/// Whether an attribute of VHLO stands for none.
bool isDefault(const Inherent &inherent, Attribute value);

} // namespace mlir::vhlo

#endif // TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_DATA_H
