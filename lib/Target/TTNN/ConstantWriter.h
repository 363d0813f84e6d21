//===- ConstantWriter.h - serialization of constants ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_TARGET_TTNN_CONSTANTWRITER_H
#define TTMLIR_LIB_TARGET_TTNN_CONSTANTWRITER_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "binary_generated.h"

namespace mlir::tt::ttnn {

/// The constants of a binary, each written once.
class ConstantWriter {
public:
  explicit ConstantWriter(flatbuffers::FlatBufferBuilder &builder) : builder(builder) {}

  /// Index of the constant with the values of `elements` as a tensor of
  /// `dataType` is stored on the simulated device.
  FailureOr<uint32_t> add(ElementsAttr elements, ttcore::DataType dataType,
                          function_ref<InFlightDiagnostic()> emitError);

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<::tt::target::Constant>>> finish() {
    return builder.CreateVector(constants);
  }

private:
  flatbuffers::FlatBufferBuilder &builder;
  std::vector<flatbuffers::Offset<::tt::target::Constant>> constants;
  llvm::DenseMap<std::pair<Attribute, unsigned>, uint32_t> indices;
};

/// Bytes that the values of `elements` take when stored as `dataType`.
uint64_t storedBytes(ElementsAttr elements, ttcore::DataType dataType);
/// Writes those bytes, row-major, to `data`.
LogicalResult storeElements(ElementsAttr elements, ttcore::DataType dataType, uint8_t *data,
                            function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_TARGET_TTNN_CONSTANTWRITER_H
