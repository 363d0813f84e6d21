//===- Passes.td - passes on D2M ---------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def D2MGenericFusion : Pass<"d2m-generic-fusion", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise generics and keep intermediate values in registers";
  let description = [{
    A generic that makes tiles from tiles at the same place takes in the generics whose results it alone reads, if both
    run on one grid, the registers are enough and hold the values between with the bits that buffers would: chains have
    one width of numbers, and casts between. A generic without inputs (a constant) is cloned for each user. What
    makes values that nothing reads is erased.

    With `enable-eltwise-reduction-fusion`, a generic whose result one reduction alone reads is computed inside it: the
    reduction's cores read the inputs, of other cores, too, and reduce tiles of a small circular buffer. The result is
    never in a buffer as a whole.

    Before:
    ```mlir
    d2m.generic {...} ins(%a, %b : ...) outs(%sum : ...) { ... "d2m.tile_add" ... }
    d2m.generic {...} ins(%sum : ...) outs(%out : ...) { ... "d2m.tile_exp" ... }
    ```
    After:
    ```mlir
    d2m.generic {...} ins(%a, %b : ...) outs(%out : ...) { ... "d2m.tile_add" ... "d2m.tile_exp" ... }
    ```
  }];
  let options = [
    Option<"enableElementwiseFusion", "enable-elementwise-fusion", "bool", "true",
           "Fuse elementwise generics; otherwise only what nothing reads is erased">,
    Option<"enableEltwiseReductionFusion", "enable-eltwise-reduction-fusion", "bool", "false",
           "Compute tiles that one reduction alone reads inside the reduction">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def D2MAllocate : Pass<"d2m-allocate"> {
  let summary = "Assign addresses to device buffers and free them after their last use";
  let description = [{
    A buffer has the same address in the L1 of every core: the first free room between the end of what the firmware
    keeps and the end of L1, aligned as the network wants it.

    Buffers that do not fit lie in DRAM, the largest first: the part of core i in row-major order in channel i modulo
    the channels, at one address in all channels. Generics on them get circular buffers in L1: the movers load blocks
    of the inputs and store blocks of the output. An elementwise generic computes as many rows of tiles at a time, or
    parts of a row, as leave room. Programs whose circular buffers do not fit are refused.

    With `ttnn-mode`, generics read arguments whose tiles are in DRAM there, and write results there which only leave:
    each tile is the part of a core of its own.

    Before:
    ```mlir
    %0 = memref.alloc() : memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>
    ```
    After:
    ```mlir
    %0 = memref.alloc() {address = 1024 : i64} : memref<...>
    ...
    memref.dealloc %0 : memref<...>
    ```
  }];
  let options = [
    ListOption<"availableL1AddrRange", "available-l1-addr-range", "int64_t",
               "First address of L1 for buffers, and the one behind the last; none: all that the firmware leaves">,
    Option<"testAssumel1Capacity", "test-assume-l1-capacity", "int64_t", "0",
           "Bytes of L1 that a core is taken to have; 0: those of the chip">,
    Option<"forceSpillToDramIfLegal", "force-spill-to-dram-if-legal", "bool", "false",
           "Place all buffers in DRAM that can lie there">,
    Option<"allowL1OutputSpilling", "allow-l1-output-spilling", "bool", "true",
           "Place outputs of generics in DRAM, too, where L1 has no room">,
    Option<"defaultInputMemspace", "default-input-memspace", "::mlir::tt::ttcore::MemorySpace",
           "::mlir::tt::ttcore::MemorySpace::DeviceL1", "Memory of what the host writes", [{TT_D2M_MEMORY_VALUES}]>,
    Option<"defaultOutputMemspace", "default-output-memspace", "::mlir::tt::ttcore::MemorySpace",
           "::mlir::tt::ttcore::MemorySpace::DeviceL1", "Memory of what generics write", [{TT_D2M_MEMORY_VALUES}]>,
    Option<"streamInsertPolicy", "stream-insert-policy", "::mlir::tt::d2m::StreamInsertPolicy",
           "::mlir::tt::d2m::StreamInsertPolicy::Infer", "Operands that movers copy into circular buffers",
           [{TT_D2M_STREAM_VALUES}]>,
    Option<"testBufferSizePolicy", "test-buffer-size-policy", "::mlir::tt::d2m::BufferSizePolicy",
           "::mlir::tt::d2m::BufferSizePolicy::Auto", "Size of the blocks that generics work on",
           [{TT_D2M_BUFFER_SIZE_VALUES}]>,
    Option<"ttnnMode", "ttnn-mode", "bool", "false",
           "Buffers are tensors of TTNN, for which the executor finds addresses: only choose between L1 and DRAM">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tt::ttir::TTIRDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

def D2MOpScheduler : Pass<"d2m-op-scheduler"> {
  let summary = "Order tile ops so that few tiles are live at a time";
  let description = [{
    Of the operands of an op, the one whose computation needs more registers is computed first (Sethi and Ullman).

    Before:
    ```mlir
    %a = "d2m.tile_exp"(%x) : (!tile) -> !tile
    %b = "d2m.tile_add"(%x, %y) : (!tile, !tile) -> !tile
    %c = "d2m.tile_mul"(%a, %b) : (!tile, !tile) -> !tile
    ```
    After:
    ```mlir
    %b = "d2m.tile_add"(%x, %y) : (!tile, !tile) -> !tile
    %a = "d2m.tile_exp"(%x) : (!tile) -> !tile
    %c = "d2m.tile_mul"(%a, %b) : (!tile, !tile) -> !tile
    ```
  }];
  let options = [Option<"enableOpScheduler", "enable-op-scheduler", "bool", "true", "Order tile ops">];
}

def D2MSplitUnifiedThread : Pass<"d2m-split-unified-thread"> {
  let summary = "Split a unified thread into one compute and two data movement threads";
  let description = [{
    What a core has of an operand already lies where its circular buffer is. So the first of the movers hands over what
    the computation waits for, the second takes what it pushes.

    Before (in a unified thread):
    ```mlir
    %x = d2m.wait %in : !d2m.cb<!block> -> !block
    %y = d2m.reserve %out : !d2m.cb<!block> -> !block
    ...
    d2m.push %out : !d2m.cb<!block>
    d2m.pop %in : !d2m.cb<!block>
    ```
    After, in that thread, which computes, the same; in the movers
    ```mlir
    %x = d2m.reserve %in : !d2m.cb<!block> -> !block
    d2m.push %in : !d2m.cb<!block>
    }, {
    %y = d2m.wait %out : !d2m.cb<!block> -> !block
    d2m.pop %out : !d2m.cb<!block>
    ```
  }];
}

def D2MLowerLoadStoreOpsToDMA : Pass<"d2m-lower-load-store-ops-to-dma"> {
  let summary = "Lower loads of blocks to transfers of contiguous pieces";
  let description = [{
    The maps of views become index arithmetic: which core has a piece, and how many bytes into its part. A piece is as
    long as the maps show that elements follow each other on both sides.

    Before:
    ```mlir
    d2m.remote_load %view[%i, %j] into %cb : memref<2x2x4x4x!tile, ...> into !d2m.cb<memref<4x4x!tile>>
    ```
    After:
    ```mlir
    %room = d2m.reserve %cb : !d2m.cb<memref<4x4x!tile>> -> memref<4x4x!tile>
    scf.for %r = ... { scf.for %c = ... {
      %0 = d2m.dma_read %buffer[%y, %x, %bytes], %room[%place], <4> : (...) -> !d2m.mem_tx<read>
    } }
    %1 = d2m.null_tx : !d2m.mem_tx<read>
    d2m.dma_wait %1 : !d2m.mem_tx<read>
    d2m.push %cb : !d2m.cb<memref<4x4x!tile>>
    ```
  }];
  let options = [
    Option<"debugCoalescingInference", "debug-d2m-coalescing-inference", "bool", "false",
           "Compare the length of pieces with that of an enumeration of all indices, and remark on it">,
    Option<"useTensorAccessorDMA", "use-tensor-accessor-dma", "bool", "false",
           "Mark the operands in DRAM, for kernels to address them by a TensorAccessor: a page is the part of a core">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def D2MLowerMulticastLoads : Pass<"d2m-lower-multicast-loads"> {
  let summary = "Lower multicast dimensions of loads to rectangles of cores";
  let description = [{
    `mcast` names the dimensions of the grid in which the cores that need the same block agree. They are a rectangle,
    whose first core reads the block and sends it to the others. A group of one core reads for itself.

    Before (on a grid of 4x8 cores):
    ```mlir
    d2m.remote_load %a[%m, %k] into %cb mcast[%c0] : ...
    ```
    After:
    ```mlir
    %y = d2m.core_index(0) : index
    d2m.remote_load %a[%m, %k] into %cb mcore[%y, %c0] mshape[%c1, %c8] : ...
    ```
  }];
  let options = [Option<"enableMulticastInference", "enable-multicast-inference", "bool", "true",
                        "Send blocks to rectangles of cores; otherwise each core reads for itself">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def D2MInsertDstRegisterAccessUnscheduled : Pass<"d2m-insert-dst-register-access-unscheduled"> {
  let summary = "Insert copies of tiles into the destination registers";
  let description = [{
    Every tile that an op reads is stored to a register and loaded from it; so is its result. An op of one operand works
    in the operand's register. Registers are used again after the last use of what they hold.

    Before:
    ```mlir
    %t = memref.load %x[%i, %j] : !block
    %r = "d2m.tile_sigmoid"(%t) : (!tile) -> !tile
    memref.store %r, %y[%i, %j] : !block
    ```
    After:
    ```mlir
    %dst = d2m.acquire_dst() : memref<4x!ttcore.tile<32x32, f32>, #dst>
    %t = memref.load %x[%i, %j] : !block
    memref.store %t, %dst[%c0] : !registers
    %a = memref.load %dst[%c0] : !registers
    %r = "d2m.tile_sigmoid"(%a) : (!tile) -> !tile
    memref.store %r, %dst[%c0] : !registers
    %b = memref.load %dst[%c0] : !registers
    memref.store %b, %y[%i, %j] : !block
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

// On modules: adds functions.
def D2MGenericRegionsToFuncs : Pass<"d2m-generic-regions-to-funcs", "::mlir::ModuleOp"> {
  let summary = "Outline each thread to a function";
  let description = [{
    Threads that are equal share one. Circular buffers are got by their number.

    After:
    ```mlir
    d2m.generic {..., threads = [#d2m.thread<datamovement, @datamovement_kernel0>, #d2m.thread<compute, @compute_kernel1>]}
    func.func private @compute_kernel1() attributes {d2m.thread = #d2m.thread<compute>} {
      %0 = d2m.get_cb(0) : !d2m.cb<!block>
    ```
  }];
  let options = [Option<"forceCompileTimeArgs", "force-compile-time-args", "bool", "false",
                        "Make addresses arguments that are known when a kernel is compiled, behind the ports">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_TD
