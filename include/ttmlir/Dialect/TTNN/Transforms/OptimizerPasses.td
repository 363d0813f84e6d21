//===- OptimizerPasses.td - passes of TTNN's optimizer -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIMIZERPASSES_TD
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIMIZERPASSES_TD

include "mlir/Pass/PassBase.td"

/// The layouts that a user requests, by names of locations. A pass that moves a result out of L1 again reports it.
defvar TTNN_RequestedLayouts = [
  Option<"overrideOutputLayout", "override-output-layout", "std::string", "\"\"",
         "Layouts of results: NAME=8x8:l1:block_sharded,...">,
  Option<"insertMemReconfig", "insert-memreconfig", "std::string", "\"\"",
         "Operands whose layout is changed before the op: NAME=0:1,...">
];

def TTNNRequestedCopies : Pass<"ttnn-requested-copies", "::mlir::func::FuncOp"> {
  let summary = "Replace barriers that request copies by ttnn.assign";
  let description = [{
    An optimization barrier with `ttcore.copy` becomes a `ttnn.assign` of each input. Users of the barrier read a tensor
    of their own.

    Before:
    ```mlir
    %0 = "ttcore.optimization_barrier"(%x) {ttcore.copy} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %1 = "ttnn.exp"(%0) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    ```
    After:
    ```mlir
    %0 = "ttnn.assign"(%x) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %1 = "ttnn.exp"(%0) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: reads the chip.
def TTNNRequestedGrids : Pass<"ttnn-requested-grids", "::mlir::ModuleOp"> {
  let summary = "Compute ops on the grids of cores that are requested";
  let description = [{
    The result of an op with `ttcore.grid` gets shards in L1 on so many rows and columns of cores: by blocks if the kernel
    of the op has them, else by height (one column) or by width (one row). A product gets a program config for this
    grid. Users that do not take the shards read a copy in DRAM, and so do callers of the program.

    A grid that the chip does not have is an error. If the kernel has no such shards, cores would have none, or the shards
    and the circular buffers do not fit into L1, a warning gives the reason, and the op remains as it is. Ops that move
    values ignore the attribute.

    Before:
    ```mlir
    #dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
    %0 = "ttnn.exp"(%x) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #dram>
    return %0 : tensor<64x128xbf16, #dram>
    ```
    After:
    ```mlir
    #blocks = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<2x2x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <block_sharded>, core_ranges = <[<(0, 0), (1, 0)>]>>
    %0 = "ttnn.exp"(%x) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #blocks>
    %1 = "ttnn.to_memory_config"(%0) : (tensor<64x128xbf16, #blocks>) -> tensor<64x128xbf16, #dram>
    return %1 : tensor<64x128xbf16, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: reads the chip, and reports once.
def TTNNGreedyMemoryLayoutPropagation : Pass<"ttnn-greedy-memory-layout-propagation", "::mlir::ModuleOp"> {
  let summary = "Choose layouts of results by estimated time";
  let description = [{
    Results of ops of the device may lie in DRAM, in L1, or in shards in L1 (by height, width or blocks, as kernels of
    the op's family have them). Op by op in the order of the program, each possible layout gets the least time of the op
    with any layouts of its operands, and of what leads to these; from the end of the program on, a value gets the layout
    that is cheapest for it and for all that read it. Times are those of the cost model that the runtime's clock has
    (docs/cost-model.md). Where an op does not take an operand in its layout, a `ttnn.to_memory_config` is inserted, if that
    pays. What a program returns, what is written to, and what calls, loops and collectives use, stays in DRAM. Products
    get a program config.

    Whether all fits at the same time, `ttnn-greedy-l1-spill-management` finds out.

    Before:
    ```mlir
    #dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x64x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
    %0 = "ttnn.exp"(%x) : (tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
    %1 = "ttnn.add"(%0, %x) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
    return %1 : tensor<2048x2048xbf16, #dram>
    ```
    After:
    ```mlir
    #l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x64x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <interleaved>>
    %0 = "ttnn.exp"(%x) : (tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #l1>
    %1 = "ttnn.add"(%0, %x) : (tensor<2048x2048xbf16, #l1>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
    return %1 : tensor<2048x2048xbf16, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"maxLegalLayouts", "max-legal-layouts", "Count", "64", "Layouts that are tried for each op">,
    Option<"rowMajorEnabled", "row-major-enabled", "bool", "false",
           "Changes nothing: tensors of the device are tiles where an op computes">,
    Option<"beamWidth", "beam-width", "Count", "8", "Layouts of an op that its users look at">,
    Option<"enableL1ShardingLayouts", "enable-l1-sharding-layouts", "bool", "true", "Try shards, too">,
    Option<"maxInputCandidatesPerOperand", "max-input-candidates-per-operand", "Count", "64",
           "Layouts of an operand that are tried">,
    Option<"maxReshardCandidatesPerType", "max-reshard-candidates-per-type", "uint32_t", "4",
           "0: no layout is changed by an op of its own">,
    Option<"tensorL1UsageCap", "tensor-l1-usage-cap", "Share", "0.95f", "Share of L1 that tensors may take">,
    Option<"overrideConv2dConfig", "override-conv2d-config", "std::string", "\"\"",
           "Fields of conv2d_config: NAME=FIELD#VALUE:...,...">,
    Option<"enableDecisionTrace", "enable-decision-trace", "bool", "false",
           "Write why each tensor lies where it lies, as JSON and as a page">,
    Option<"decisionTraceDir", "decision-trace-dir", "std::string", "\"ttrt-artifacts/decision_trace\"",
           "Folder of these files, FUNCTION.json and FUNCTION.html">,
    Option<"enableCompileTimeStats", "enable-compile-time-stats", "bool", "false",
           "Changes nothing: --mlir-timing reports what each pass takes">
  ] # TTNN_RequestedLayouts;
}

// A pass on modules: reads the chip, and called functions.
def TTNNGreedyL1SpillManagement : Pass<"ttnn-greedy-l1-spill-management", "::mlir::ModuleOp"> {
  let summary = "Spill tensors from L1 to DRAM";
  let description = [{
    Goes through a program as the runtime does, with tensors and circular buffers of kernels in the L1 of a core: tensors
    from above, each at the highest free piece that has room, circular buffers from below. Where there is no room, the
    tensor whose next use is the latest is created in DRAM instead, with all its aliases.

    Before, `%0` and `%1` being too large for L1 together:
    ```mlir
    #dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x128x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
    #l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x128x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<l1>>, <interleaved>>
    %0 = "ttnn.exp"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #l1>
    %1 = "ttnn.neg"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #l1>
    %2 = "ttnn.add"(%0, %1) : (tensor<4096x4096xf32, #l1>, tensor<4096x4096xf32, #l1>) -> tensor<4096x4096xf32, #dram>
    return %2 : tensor<4096x4096xf32, #dram>
    ```
    After:
    ```mlir
    %0 = "ttnn.exp"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram>
    %1 = "ttnn.neg"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #l1>
    %2 = "ttnn.add"(%0, %1) : (tensor<4096x4096xf32, #dram>, tensor<4096x4096xf32, #l1>) -> tensor<4096x4096xf32, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"enableDecisionTrace", "enable-decision-trace", "bool", "false",
           "Add what went back to DRAM to the files of the pass that chose layouts">,
    Option<"decisionTraceDir", "decision-trace-dir", "std::string", "\"ttrt-artifacts/decision_trace\"",
           "Folder of these files">,
    Option<"useMockAllocatorState", "use-mock-allocator-state", "bool", "true",
           "Only true: addresses are those of an empty chip">,
    Option<"onlyRequestedGrids", "only-requested-grids", "bool", "false",
           "Look only at functions with an op that has ttcore.grid">,
    Option<"tensorL1UsageCap", "tensor-l1-usage-cap", "Share", "0.95f", "Share of L1 that tensors may take">
  ] # TTNN_RequestedLayouts;
}

// A pass on modules: reads the chip, and counts over all functions.
def TTNNOperationValidationAndFallback : Pass<"ttnn-operation-validation-and-fallback", "::mlir::ModuleOp"> {
  let summary = "Revert layouts and configs that a chip would refuse";
  let description = [{
    Shards have to lie in the grid, one on each core, and what an op reads and makes has to fit into L1 with the circular
    buffers of its kernels. Where something is not so, the op loses its program config, then its results their place in
    L1. What cannot lie elsewhere, and more fallbacks than `max-fallback-attempts`, are errors.

    Before:
    ```mlir
    #dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
    #l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<l1>>, <height_sharded>>
    %0 = "ttnn.exp"(%x) : (tensor<64x64xf32, #dram>) -> tensor<64x64xf32, #l1>
    %1 = "ttnn.neg"(%0) : (tensor<64x64xf32, #l1>) -> tensor<64x64xf32, #dram>
    ```
    After:
    ```mlir
    %0 = "ttnn.exp"(%x) : (tensor<64x64xf32, #dram>) -> tensor<64x64xf32, #dram>
    %1 = "ttnn.neg"(%0) : (tensor<64x64xf32, #dram>) -> tensor<64x64xf32, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"maxFallbackAttempts", "max-fallback-attempts", "uint32_t", "10000", "Fallbacks of a module">
  ] # TTNN_RequestedLayouts;
}

// A pass on modules: reads the chip.
def TTNNPlaceEpochs : Pass<"ttnn-place-epochs", "::mlir::ModuleOp"> {
  let summary = "Divide programs into epochs, and place the ops of each on cores";
  let description = [{
    An epoch is a part of a program whose ops could run at the same time, each on cores of its own. Ops are placed in the
    order of the program, each in the first free rectangle of cores, row by row. An epoch ends before an op that finds
    none, and before one with another `ttcore.epoch` (requested epochs). What is evaluated once is not placed.

    An op may have the grids for which its kernel has shards of the result (the legal layouts of the optimizer) that fit
    into L1 with the circular buffers. If there are none, it may have those whose rows and columns divide the result's in
    tiles, and the result stays where it is. `ttcore.grid` leaves one grid. Cycles on a grid are those of the cost model
    for operands and results that go through the L1 of these cores. `policy` chooses among the grids:

    - `work`: the epoch is tried with limits for the cycles of each op: those of the heaviest op on 1, 2, 4, ... cores.
      An op has the fewest cores within the limit, else the fastest grid. The trial with most work in a cycle, counting
      the launch of the epoch, wins.
    - `ribbon`: the same, also with numbers of rows that all ops of the epoch have where they can.
    - `smallest`: the fewest cores.
    - `any`: some grid, the same in each run.
    - `auto`: `ribbon` for programs with convolutions, else `work`.

    `overrides` requests places for ops by the names of their locations, as `NAME=GRID:CORE:transposed`; each part may be
    missing. `relu=2x4:1x0` places the op on 2 rows and 4 columns of cores, the first in row 1 and column 0. The part of
    number 1 of an op that is computed in parts (`ttcore.part`) is `NAME#1`. If the requested cores are occupied, the op
    begins an epoch. A name without an op is ignored: a model may have several programs.

    Results do not depend on this pass. It sets attributes, which flatbuffers keep for reports:

    - `ttcore.placed_epoch`: the number of the epoch in the program,
    - `ttcore.placed_cores`: the first row and column, and numbers of rows and columns,
    - `ttcore.placed_transposed`: rows and columns of the op's grid are exchanged (`transpose-grids`),
    - `ttcore.placed_cycles`: the cycles of the op on these cores,
    - `ttcore.placed_l1`: bytes of circular buffers and shards of the result on each core.

    Before:
    ```mlir
    #dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
    %0 = "ttnn.exp"(%x) : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #dram>
    %1 = "ttnn.neg"(%0) : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #dram>
    ```
    After:
    ```mlir
    %0 = "ttnn.exp"(%x) {ttcore.placed_cores = array<i64: 0, 0, 2, 4>, ttcore.placed_cycles = 640 : i64, ttcore.placed_epoch = 0 : i64, ttcore.placed_l1 = 6144 : i64} : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #dram>
    %1 = "ttnn.neg"(%0) {ttcore.placed_cores = array<i64: 0, 4, 1, 2>, ttcore.placed_cycles = 512 : i64, ttcore.placed_epoch = 0 : i64, ttcore.placed_l1 = 12288 : i64} : (tensor<64x128xbf16, #dram>) -> tensor<64x128xbf16, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"rows", "rows", "uint32_t", "0", "Rows of cores; 0: those of the chip">,
    Option<"columns", "columns", "uint32_t", "0", "Columns of cores; 0: those of the chip">,
    Option<"policy", "policy", "std::string", "\"auto\"", "auto, work, ribbon, smallest or any">,
    Option<"oneRow", "one-row", "bool", "false", "Give each op one row of cores">,
    Option<"otherGrids", "other-grids", "bool", "true",
           "Try other grids of an op before the epoch ends because the preferred one finds no room">,
    Option<"transposeGrids", "transpose-grids", "bool", "false",
           "Exchange rows and columns of a grid that finds no room">,
    Option<"overrides", "overrides", "std::string", "\"\"", "NAME=GRID:CORE:transposed,...: places that are requested">
  ];
}

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_OPTIMIZERPASSES_TD
