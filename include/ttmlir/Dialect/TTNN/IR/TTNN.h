//===- TTNN.h - the TTNN dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_IR_TTNN_H
#define TTMLIR_DIALECT_TTNN_IR_TTNN_H

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/Shapes/Shapes.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/TTNN/IR/TTNNEnums.h.inc"
#include "ttmlir/Dialect/TTNN/IR/TTNNOpsDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTNN/IR/TTNNTypes.h.inc"

namespace mlir::tt::ttnn {
/// The numbers of configs that shape rules ask for.
std::optional<shapes::ConfigNumbers> readConfig(Attribute config, StringRef field);
} // namespace mlir::tt::ttnn

namespace mlir::tt::ttnn {
/// All ops of the dialect: Ops/<class>.h declares one, TTNNOps.h all of them (tools/opgen/split.py).
void registerTTNNOps(Dialect &dialect);
} // namespace mlir::tt::ttnn

namespace mlir::tt::ttnn {

/// Rows and columns of the tile to which tiled tensors are padded.
inline constexpr int64_t tileHeight = 32, tileWidth = 32;

/// The map of a tensor's dimensions to the rows and columns in which it is stored: all but the last dimension become
/// rows. With layout `tile`, the second-last dimension is padded to the tile first, so that no tile spans two matrices.
AffineMap collapseToMatrix(MLIRContext *context, ArrayRef<int64_t> shape, Layout layout);

/// Height and width of the matrix that `collapseToMatrix` maps to; nothing if they do not fit into 64 bits or a
/// dimension is dynamic.
std::optional<std::array<int64_t, 2>> collapsedShape(ArrayRef<int64_t> shape, Layout layout);

/// The data type of a tensor: that of its layout, else that of its element type; nothing if no data format holds the
/// element type.
std::optional<ttcore::DataType> getDataType(RankedTensorType type);

/// `type` with another encoding; the element type follows the encoding's data type.
RankedTensorType withLayout(RankedTensorType type, TTNNLayoutAttr layout);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_IR_TTNN_H
