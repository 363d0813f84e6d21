//===- TensorFile.cpp - tensor files --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/TensorFile.h"

#include "ConstantWriter.h"

#include "ttmlir/Target/TTNN/Schema.h"

#include "tensor_generated.h"

using namespace mlir;
using namespace mlir::tt;
namespace fb = ::tt::target;

/// Offsets in a flatbuffer have 31 bits; some of them are left to everything but the values.
static constexpr uint64_t maxBytes = (uint64_t(1) << 31) - (1 << 16);

LogicalResult ttnn::writeTensorFile(ElementsAttr values, ttcore::DataType dataType, Layout layout,
                                    llvm::raw_ostream &os, function_ref<InFlightDiagnostic()> emitError) {
  uint64_t bytes = storedBytes(values, dataType);
  if (bytes > maxBytes)
    return emitError() << "constant takes " << bytes << " bytes; a tensor file holds at most " << maxBytes;
  flatbuffers::FlatBufferBuilder builder(bytes + 1024);
  ConstantWriter constants(builder);
  if (failed(constants.add(values, dataType, emitError)))
    return failure();
  auto shards = constants.finish();
  auto shape = builder.CreateVector(cast<ShapedType>(values.getType()).getShape().vec());
  builder.FinishSizePrefixed(fb::CreateTensorFile(builder, fb::schemaVersion, shape,
                                                  static_cast<fb::DataType>(dataType), static_cast<fb::Layout>(layout),
                                                  /*mesh_shape=*/0, shards),
                             fb::TensorFileIdentifier());
  os.write(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return success();
}
