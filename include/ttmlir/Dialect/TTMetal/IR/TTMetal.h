//===- TTMetal.h - the TTMetal dialect --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTMETAL_IR_TTMETAL_H
#define TTMLIR_DIALECT_TTMETAL_IR_TTMETAL_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/TTMetal/IR/TTMetalEnums.h.inc"
#include "ttmlir/Dialect/TTMetal/IR/TTMetalOpsDialect.h.inc"

namespace mlir::tt::ttmetal {

/// The attribute of an argument or a result of a program of which every chip has its own.
inline constexpr llvm::StringLiteral distributedName = "ttmetal.distributed";

/// An upper bound of elements, above the capacity of any device memory; byte counts of smaller buffers do not overflow.
inline constexpr int64_t mostElements = int64_t(1) << 40;
/// Whether sizes are known, fit into 32 bits, and do not multiply to more elements than that.
bool isCountable(ShapedType type);

/// A device buffer: the part that each core of a grid has.
struct DeviceBuffer {
  ArrayRef<int64_t> grid, shard; // rows and columns; of elements or tiles
  Type element;                  // a scalar, or a !ttcore.tile
  /// Bytes of one element or tile, of the part of a core, and of a page, which holds a tile's elements.
  uint64_t elementBytes() const;
  uint64_t shardBytes() const;
  uint64_t pageBytes() const;
  ttcore::DataType dataType() const;
  /// The type of such a buffer in a memory of the device.
  MemRefType in(ttcore::MemorySpace memory) const;
  MemRefType inL1() const { return in(ttcore::MemorySpace::DeviceL1); }

  /// Returns the buffer, or nullopt for a type that is not one: 4 dimensions, a #ttcore.shard layout, in device memory.
  static std::optional<DeviceBuffer> of(Type type);
};
inline bool isDeviceBuffer(Type type) { return DeviceBuffer::of(type).has_value(); }

} // namespace mlir::tt::ttmetal

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTMetal/IR/TTMetalAttrs.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/TTMetal/IR/TTMetalOps.h.inc"

#endif // TTMLIR_DIALECT_TTMETAL_IR_TTMETAL_H
