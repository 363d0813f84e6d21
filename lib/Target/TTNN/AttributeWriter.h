//===- AttributeWriter.h - serialization of op attributes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_TARGET_TTNN_ATTRIBUTEWRITER_H
#define TTMLIR_LIB_TARGET_TTNN_ATTRIBUTEWRITER_H

#include "ConstantWriter.h"

namespace mlir::tt::ttnn {

/// Writes attributes by their kind, for any op.
class AttributeWriter {
public:
  AttributeWriter(flatbuffers::FlatBufferBuilder &builder, ConstantWriter &constants)
      : builder(builder), constants(constants) {}

  /// Elements are stored as `dataType`, or as their own type.
  FailureOr<flatbuffers::Offset<::tt::target::Attribute>> write(StringRef name, Attribute attr,
                                                                std::optional<ttcore::DataType> dataType,
                                                                function_ref<InFlightDiagnostic()> emitError);

private:
  flatbuffers::FlatBufferBuilder &builder;
  ConstantWriter &constants;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_TARGET_TTNN_ATTRIBUTEWRITER_H
