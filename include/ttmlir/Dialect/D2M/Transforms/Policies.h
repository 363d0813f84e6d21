//===- Policies.h - choices that options of D2M's passes name ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_POLICIES_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_POLICIES_H

#include <cstdint>

namespace mlir::tt::d2m {

/// The operands that data movement threads copy into circular buffers.
enum class StreamInsertPolicy : uint8_t {
  Infer, // those that do not lie where they are used
  Always // all of them
};

/// The size of the blocks that generics work on.
enum class BufferSizePolicy : uint8_t {
  Auto, // a core's part, and of products what leaves room for other buffers
  Min,  // one tile
  Max   // as large as L1 allows
};

} // namespace mlir::tt::d2m

#define TT_D2M_STREAM_VALUES                                                                                           \
  ::llvm::cl::values(clEnumValN(::mlir::tt::d2m::StreamInsertPolicy::Infer, "infer", "those that lie elsewhere"),      \
                     clEnumValN(::mlir::tt::d2m::StreamInsertPolicy::Always, "always", "all"))
#define TT_D2M_BUFFER_SIZE_VALUES                                                                                      \
  ::llvm::cl::values(clEnumValN(::mlir::tt::d2m::BufferSizePolicy::Auto, "auto", "what leaves room for others"),       \
                     clEnumValN(::mlir::tt::d2m::BufferSizePolicy::Min, "min", "one tile"),                            \
                     clEnumValN(::mlir::tt::d2m::BufferSizePolicy::Max, "max", "what fits"))
#define TT_D2M_MEMORY_VALUES                                                                                           \
  ::llvm::cl::values(clEnumValN(::mlir::tt::ttcore::MemorySpace::DeviceL1, "l1", "L1"),                                \
                     clEnumValN(::mlir::tt::ttcore::MemorySpace::DeviceDRAM, "dram", "DRAM"))

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_POLICIES_H
