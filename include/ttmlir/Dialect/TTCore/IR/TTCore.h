//===- TTCore.h - the TTCore dialect ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCORE_H
#define TTMLIR_DIALECT_TTCORE_IR_TTCORE_H

#include "ttmlir/Dialect/Families/Facts.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/TTCore/IR/TTCoreEnums.h.inc"
#include "ttmlir/Dialect/TTCore/IR/TTCoreOpsDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreOps.h.inc"

namespace mlir::tt::ttcore {

/// The names under which IR of other dialects carries TTCore attributes.
inline constexpr llvm::StringLiteral meshesName = "ttcore.meshes";
inline constexpr llvm::StringLiteral systemDescName = "ttcore.system_desc";
inline constexpr llvm::StringLiteral argumentTypeName = "ttcore.argument_type";
inline constexpr llvm::StringLiteral shardStatusName = "ttcore.shard_status";
inline constexpr llvm::StringLiteral localShapeName = "ttcore.local_shape";
inline constexpr llvm::StringLiteral runtimeTensorShardingName = "ttcore.runtime_tensor_sharding";
/// The symbol of the device that programs run on.
inline constexpr llvm::StringLiteral defaultDeviceName = "default_device";

/// Chips of a mesh at most.
inline constexpr int64_t maxMeshSize = 1024;

/// The format in which a device holds values of a builtin element type (i64 as si32, f64 as f32, i1 as bool); nothing
/// if there is none.
std::optional<DataType> elementTypeToDataType(Type elementType);
/// The builtin type that holds values of a format without loss.
Type dataTypeToElementType(MLIRContext *context, DataType dataType);
/// Bytes of one 32x32 tile of a format, including exponents of block formats.
uint64_t tileBytes(DataType dataType);
/// Whether values share exponents.
bool isBlockFormat(DataType dataType);

/// The mesh of `op`'s module: the default device's, else the first of `ttcore.meshes` on an enclosing module; nothing
/// if there is neither.
std::optional<llvm::SmallVector<int64_t>> lookupMeshShape(Operation *op);
/// The device op that `op` runs on, or null.
DeviceOp lookupDevice(Operation *op, llvm::StringRef name = defaultDeviceName);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCORE_H
