//===- kernel_abi.h - ABI of compiled kernels -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Kernels are compiled by the system's compiler to a shared library that is not
// linked with the runtime: it is given this table of functions. Everything here
// is plain C in memory, and light, because every compilation reads it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tt::metal {

/// Raised with every change of this file; a library of another version is compiled again.
inline constexpr uint32_t kernelAbiVersion = 10;

/// Rows of TileOps.def, by the name of their function.
enum class TileOp : uint32_t {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) kernel,
#include "ttmlir/Target/TTMetal/TileOps.def"
  count
};

enum class FpuOp : uint32_t { Add, Subtract, Multiply };
enum class ReducePool : uint32_t { Sum, Average, Max };
/// The dimension that is reduced or broadcast: Row reduces each row to its first element.
enum class Along : uint32_t { None, Row, Column, Scalar };

/// Rows and columns of a tile from a first one up to an end, every so many.
struct TileSlice {
  uint32_t rowBegin, rowEnd, rowStep, columnBegin, columnEnd, columnStep;
};

/// Functions of the kernel that runs in the calling thread. `function` is the name for messages.
struct KernelApi {
  uint32_t (*argument)(uint32_t index);
  void (*badCompileTimeArgument)(uint32_t index, uint32_t count);

  // Circular buffers.
  void (*cbWaitFront)(uint32_t cb, uint32_t pages);
  void (*cbPopFront)(uint32_t cb, uint32_t pages);
  void (*cbReserveBack)(uint32_t cb, uint32_t pages);
  void (*cbPushBack)(uint32_t cb, uint32_t pages);
  uint32_t (*cbAvailable)(uint32_t cb, bool front, const char *function);
  uint32_t (*cbReadAddress)(uint32_t cb);
  uint32_t (*cbWriteAddress)(uint32_t cb);
  uint32_t (*cbTileBytes)(uint32_t cb);
  uint32_t (*cbDataType)(uint32_t cb);
  void (*cbCheck)(uint32_t cb, const char *function);

  // Data movement.
  uint32_t (*coreX)();
  uint32_t (*coreY)();
  void (*nocRead)(uint64_t from, uint32_t to, uint32_t bytes);
  void (*nocWrite)(uint32_t from, uint64_t to, uint32_t bytes);
  /// To all cores of a rectangle; `own`: the sender is one of the receivers.
  void (*nocMulticast)(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, bool own);

  // Semaphores: words at the same address of every core.
  uint32_t (*semaphoreAddress)(uint32_t id);
  void (*semaphoreIncrease)(uint64_t to, uint32_t value);
  void (*semaphoreSet)(uint32_t address, uint32_t value);
  void (*semaphoreMulticast)(uint32_t from, uint64_t to, uint32_t receivers, bool own);
  void (*semaphoreWait)(uint32_t address, uint32_t value, bool orMore);

  // Registers.
  void (*dstAcquire)();
  void (*dstCommit)();
  void (*dstWait)();
  void (*dstRelease)();

  // Compute.
  void (*computeCheck)(const char *function);
  void (*copyTile)(uint32_t cb, uint32_t tile, uint32_t dst);
  void (*packTile)(uint32_t dst, uint32_t cb, bool outOfOrder, uint32_t tile);
  /// dsts: those of the operands, then that of the result.
  void (*tileOp)(TileOp op, const uint32_t *dsts);
  /// A row of the elementwise table, in place; numbers: the bits of floats that it takes, up to 3.
  void (*rowOp)(const char *row, uint32_t dst, const uint32_t *numbers, uint32_t count, const char *function);
  void (*typecastTile)(uint32_t dst, uint32_t dataType);
  void (*fillTile)(uint32_t dst, float value);
  void (*fpuTiles)(FpuOp op, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst);
  void (*tilizeBlock)(uint32_t in, uint32_t tiles, uint32_t out);
  /// Untilizes from tile `first` of those at the front on.
  void (*untilizeBlock)(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out);
  void (*matmulTiles)(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose);
  /// Adds `steps` products of columns of rt tiles, a row's `rowStride` apart, and rows of ct tiles, a step's
  /// `stepStride` apart, to rt * ct registers.
  void (*matmulBlock)(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose,
                      uint32_t ct, uint32_t rt, uint32_t rowStride, uint32_t stepStride, uint32_t steps);
  void (*packAccumulate)(bool enable);
  void (*reduceTile)(ReducePool pool, Along along, uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t scalerTile,
                     uint32_t dst);
  void (*transposeTile)(uint32_t cb, uint32_t tile, uint32_t dst);
  void (*broadcastTile)(Along along, uint32_t cb, uint32_t tile, uint32_t dst);

  /// Likewise, with the second tile's first row, column or element broadcast.
  void (*fpuBroadcast)(FpuOp op, Along along, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst);
  /// Computes on a tile and dst, which is the first operand with `first`.
  void (*fpuReuse)(FpuOp op, bool first, uint32_t cb, uint32_t tile, uint32_t dst);
  /// A row of two operands with a number as one of them, the first with `first`. bits: of a float, or an integer.
  void (*scalarOp)(const char *row, bool first, uint32_t dst, uint32_t bits, bool integer, const char *function);
  void (*copyDst)(uint32_t from, uint32_t to);

  // Arguments that are alike on all cores.
  uint32_t (*commonArgument)(uint32_t index);
  // Banks of memory: DRAM, or the L1 of the cores.
  uint32_t (*bankCount)(bool dram);
  uint32_t (*bankAlignment)(bool dram);
  uint64_t (*bankAddress)(bool dram, uint32_t bank, uint64_t address);
  /// Four bytes.
  void (*nocWriteWord)(uint64_t to, uint32_t value);
  /// The line of the kernel's source that calls the next function; 0 behind it.
  void (*at)(uint32_t line);
  // Debugging.
  void (*print)(const char *text, uint32_t length);
  void (*printTile)(uint32_t cb, uint32_t tile, TileSlice slice);
  /// After some thousand jumps of kernels: other kernels run, and one that will never end is an error.
  void (*pause)();
  /// All elements of both tiles are positions of a dimension, which an op of the program indexes.
  void (*checkPositions)(uint32_t least, uint32_t greatest, uint32_t size, const char *op);
  /// 32 bits of the core's L1.
  uint32_t (*loadWord)(uint32_t address);
  // The chips of the mesh, by number.
  uint32_t (*device)();
  void (*fabricWrite)(uint32_t device, uint64_t to, uint32_t from, uint32_t bytes);
  /// Ends the program with an error of the kernel.
  void (*failAssert)(const char *what);
  // A named part of the kernel, for recordings.
  void (*beginZone)(const char *name);
  void (*endZone)();
};

/// The table that the library of a file's kernels exports: `tt_metal_kernels` with C linkage.
struct KernelLibrary {
  uint32_t version;
  uint32_t count;
  const KernelApi **api; // to be set before an entry is called
  void (*const *entries)();
};

} // namespace tt::metal
