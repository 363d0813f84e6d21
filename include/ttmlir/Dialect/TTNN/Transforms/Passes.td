//===- Passes.td - passes on TTNN --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TTNNLayout : Pass<"ttnn-layout"> {
  let summary = "Assign a layout to every tensor";
  let description = [{
    Tensors lie tiled and interleaved in DRAM. The full side of a `ttir.mesh_shard` lies in system memory, as do weights
    and biases of convolutions with the constants that they are computed from, unless something else reads them: the
    library prepares them from rows, and tiles of small windows would be mostly padding. Other tensors whose last two
    sizes are below 32 lie in rows in DRAM where tiles would take a MiB or more, and eight times the memory of rows: the
    gradient of a kernel of 1 x 1, and images of 8 x 8. With `open-sizes` these are tiled, too, so that layouts do not
    depend on sizes. A tensor that a mesh_shard has
    distributed, and what is computed from it, is marked with its mesh; in a module also what loops and branches carry,
    which are given in parts what they have in parts. Tensors of tiles become tensors
    of the element type that holds the tiles' values; the layout keeps the format.

    Before:
    ```mlir
    func.func @f(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
    ```
    After:
    ```mlir
    #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
    func.func @f(%a: tensor<64x128xf32, #ttnn_layout>) -> tensor<64x128xf32, #ttnn_layout> {
    ```
  }];
  let options = [Option<"openSizes", "open-sizes", "bool", "false",
                        "Choose layouts that do not depend on sizes">];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

def TTNNDecomposeLayouts : Pass<"ttnn-decompose-layouts"> {
  let summary = "Decompose layout changes into single steps";
  let description = [{
    A `ttnn.to_layout` whose result differs in more than the order of values becomes a chain of to_device, to_layout,
    typecast, to_memory_config and from_device. Block formats exist only as tiles, so tilizing comes before a cast to
    one and untilizing after a cast from one.

    Before:
    ```mlir
    %1 = "ttnn.to_layout"(%0) : (tensor<64x96xf32, #host_row_major>) -> tensor<64x96xbf16, #dram_tiled>
    ```
    After:
    ```mlir
    %1 = "ttnn.get_device"() ...
    %2 = "ttnn.to_device"(%0, %1) : (tensor<64x96xf32, #host_row_major>, !ttnn.device) -> tensor<64x96xf32, #dram_row_major>
    %3 = "ttnn.to_layout"(%2) : (tensor<64x96xf32, #dram_row_major>) -> tensor<64x96xf32, #dram_tiled>
    %4 = "ttnn.typecast"(%3) : (tensor<64x96xf32, #dram_tiled>) -> tensor<64x96xbf16, #dram_tiled>
    ```
  }];
}

def TTNNWeightDtypeConversion : Pass<"ttnn-weight-dtype-conversion"> {
  let summary = "Store weights in a block format";
  let description = [{
    Weights are the second operands of matmul, linear and convolutions, as far as they are constants or come from
    arguments that are parameters or constants (`ttcore.argument_type`), a convolution's in any case. Constants are
    stored in the format; what else is a weight is cast to it. `ttcore.weight_dtype` of an op names the format of its
    weight, wherever that comes from, and goes before `target-dtype`.

    Before:
    ```mlir
    %1 = "ttnn.matmul"(%x, %w) : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>) -> tensor<32x32xbf16, #c>
    ```
    After:
    ```mlir
    %1 = "ttnn.typecast"(%w) : (tensor<64x32xbf16, #b>) -> tensor<64x32xbf16, #b_bfp_bf8>
    %2 = "ttnn.matmul"(%x, %1) : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b_bfp_bf8>) -> tensor<32x32xbf16, #c>
    ```
  }];
  let options = [
    Option<"targetDtype", "target-dtype", "::mlir::tt::ttnn::BFPDtype", "::mlir::tt::ttnn::BFPDtype::None",
           "Format of weights", "TTNN_BLOCK_FORMAT_VALUES">
  ];
}

def TTNNKVCacheDtypeConversion : Pass<"ttnn-kv-cache-dtype-conversion"> {
  let summary = "Store caches of keys and values in a block format";
  let description = [{
    Arguments that fill_cache, update_cache, paged_fill_cache or paged_update_cache write to come in the format, and go
    out in it where they are returned. Ops that read a cache take it as it is.

    Before:
    ```mlir
    func.func @f(%cache: tensor<1x8x64x128xbf16, #bf16>, %new: tensor<1x8x64x128xbf16, #bf16>) {
      "ttnn.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x128xbf16, #bf16>, tensor<1x8x64x128xbf16, #bf16>) -> ()
    ```
    After:
    ```mlir
    func.func @f(%cache: tensor<1x8x64x128xbf16, #bfp_bf8>, %new: tensor<1x8x64x128xbf16, #bf16>) {
      "ttnn.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x128xbf16, #bfp_bf8>, tensor<1x8x64x128xbf16, #bf16>) -> ()
    ```
  }];
  let options = [
    Option<"targetDtype", "target-dtype", "::mlir::tt::ttnn::BFPDtype", "::mlir::tt::ttnn::BFPDtype::None",
           "Format of caches", "TTNN_BLOCK_FORMAT_VALUES">
  ];
}

def TTNNCCLActivationDtypeLowering : Pass<"ttnn-ccl-activation-dtype-lowering"> {
  let summary = "Exchange floats of collectives in a block format";
  let description = [{
    Operands of all_gather, all_reduce and reduce_scatter that are floats in tiles are cast to bfp_bf8, and the result
    back: about half of the bytes of bf16 go over the links.

    Before:
    ```mlir
    %0 = "ttnn.all_gather"(%x) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<32x32xbf16, #a>) -> tensor<32x64xbf16, #b>
    ```
    After:
    ```mlir
    %0 = "ttnn.typecast"(%x) : (tensor<32x32xbf16, #a>) -> tensor<32x32xbf16, #a_bfp_bf8>
    %1 = "ttnn.all_gather"(%0) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<32x32xbf16, #a_bfp_bf8>) -> tensor<32x64xbf16, #b_bfp_bf8>
    %2 = "ttnn.typecast"(%1) : (tensor<32x64xbf16, #b_bfp_bf8>) -> tensor<32x64xbf16, #b>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

def TTNNSetComputeKernelConfig : Pass<"ttnn-set-compute-kernel-config"> {
  let summary = "Set the compute kernel configuration of ops";
  let description = [{
    `ttcore.compute_config` of an op becomes its `compute_config`. Every op that has one gets the fields that the options
    name, as far as it does not have them already. Elementwise ops and `layer_norm`, to which the dialect gives no
    `compute_config`, carry what was said of them to the flatbuffer as an attribute of that name; of all others, which
    move values or whose kernels do not look at it, it is dropped.

    Before:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) {ttcore.compute_config = #ttnn.device_compute_kernel_config<fp32_dest_acc_en = true>} : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>) -> tensor<32x32xbf16, #c>
    ```
    After, with `math-fidelity=hifi2`:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) <{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>}> : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>) -> tensor<32x32xbf16, #c>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"mathFidelity", "math-fidelity", "::mlir::tt::ttnn::OptionalMathFidelity",
           "::mlir::tt::ttnn::OptionalMathFidelity::Undefined", "Phases of a product", "TTNN_MATH_FIDELITY_VALUES">,
    Option<"mathApproxMode", "math-approx-mode", "::mlir::tt::ttnn::OptionalSwitch",
           "::mlir::tt::ttnn::OptionalSwitch::Undefined", "Functions by faster approximations", "TTNN_SWITCH_VALUES">,
    Option<"fp32DestAccEn", "fp32-dest-acc-en", "::mlir::tt::ttnn::OptionalSwitch",
           "::mlir::tt::ttnn::OptionalSwitch::Undefined", "Sums in f32", "TTNN_SWITCH_VALUES">,
    Option<"packerL1Acc", "packer-l1-acc", "::mlir::tt::ttnn::OptionalSwitch",
           "::mlir::tt::ttnn::OptionalSwitch::Undefined", "The packer adds to what lies in L1", "TTNN_SWITCH_VALUES">,
    Option<"dstFullSyncEn", "dst-full-sync-en", "::mlir::tt::ttnn::OptionalSwitch",
           "::mlir::tt::ttnn::OptionalSwitch::Undefined", "One half of the registers at a time is not handed over early",
           "TTNN_SWITCH_VALUES">
  ];
}

// A pass on modules: compares ops of all functions.
def TTNNUniqueLocations : Pass<"ttnn-unique-locations", "::mlir::ModuleOp"> {
  let summary = "Check that no two ops have the same location";
  let description = [{
    Changes nothing: two ops with results that have one location are an error, because a report could not tell them
    apart. Numbers of source ops count as parts of locations.
  }];
}

def TTNNFusing : Pass<"ttnn-fusing"> {
  let summary = "Fuse activations into the ops before them";
  let description = [{
    An elementwise function of one operand (relu, gelu, silu, ..., and gelu in its tanh form, written out) is computed by the matmul, linear or convolution
    before it, also past reshapes and permutes, while the result is at hand and not rounded yet. A value that something
    else uses, or that `ttcore.observed` names, stays. The ops take over the location of the activation.

    With an option, x * cos + concat(-x[..., d / 2 :], x[..., : d / 2]) * sin is rotary_embedding, where cosines and sines
    are the same for all heads.

    Before:
    ```mlir
    %0 = "ttnn.linear"(%x, %w, %b) : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>, tensor<32xbf16, #c>) -> tensor<32x32xbf16, #d>
    %1 = "ttnn.gelu"(%0) : (tensor<32x32xbf16, #d>) -> tensor<32x32xbf16, #d>
    ```
    After:
    ```mlir
    %0 = "ttnn.linear"(%x, %w, %b) <{activation = "gelu"}> : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>, tensor<32xbf16, #c>) -> tensor<32x32xbf16, #d>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [Option<"enableRoPEFusion", "enable-rope-fusion", "bool", "false", "Make rotary embeddings one op">];
}

def TTNNDeallocate : Pass<"ttnn-deallocate"> {
  let summary = "Deallocate every tensor after its last use";
  let description = [{
    Arguments belong to the caller and returned tensors go to it, so neither is freed; nor are the results of
    `ttcore.load_cached`, which the next run needs again.

    Before:
    ```mlir
    %0 = "ttnn.relu"(%arg0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    %1 = "ttnn.exp"(%0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    return %1 : tensor<64x96xf32, #l>
    ```
    After:
    ```mlir
    %0 = "ttnn.relu"(%arg0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    %1 = "ttnn.exp"(%0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    "ttnn.deallocate"(%0) <{force = false}> : (tensor<64x96xf32, #l>) -> ()
    return %1 : tensor<64x96xf32, #l>
    ```
  }];
}

// On modules: adds functions.
def TTNNCreateD2MSubgraphs : Pass<"ttnn-create-d2m-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Group elementwise ops into functions that are compiled to kernels";
  let description = [{
    From each elementwise op backwards, producers all of whose users are in the group. Groups have two ops or more, which
    are rows of ttmlir/Target/TTMetal/TileOps.def; their tensors have one data type and elements, lie on the device,
    and fit into the L1 that other tensors leave.

    Before:
    ```mlir
    %0 = "ttnn.add"(%a, %b) : (tensor<32x32xf32, #dram>, tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
    %1 = "ttnn.exp"(%0) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
    ```
    After:
    ```mlir
    %0 = "ttnn.empty"(%device) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #dram>
    %1 = ttnn.d2m_subgraph @d2m_subgraph_0
        ins(%a, %b : tensor<32x32xf32, #dram>, tensor<32x32xf32, #dram>)
        outs(%0 : tensor<32x32xf32, #dram>) : tensor<32x32xf32, #dram>
    ```
  }];
}

// On modules: removes functions.
def TTNNCollaspeD2M : Pass<"ttnn-collaspe-d2m", "::mlir::ModuleOp"> {
  let summary = "Replace calls of functions that were compiled to kernels by their bodies";
  let description = [{
    Before (`@d2m_subgraph_0` after `ttnn-through-d2m-pipeline`):
    ```mlir
    %1 = ttnn.d2m_subgraph @d2m_subgraph_0 ins(%a, %b : ...) outs(%0 : ...) : tensor<32x32xf32, #dram>
    ```
    After:
    ```mlir
    %1 = "ttnn.to_memory_config"(%a) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #l1>
    ...
    "ttnn.generic"(%1, %2, %3) <{program = #ttnn.program<...>}> : (...) -> ()
    %4 = "ttnn.to_memory_config"(%3) : (tensor<32x32xf32, #l1>) -> tensor<32x32xf32, #dram>
    ```
  }];
}

// On modules: adds functions.
def TTNNPipelineStages : Pass<"ttnn-pipeline-stages", "::mlir::ModuleOp"> {
  let summary = "Divide programs into stages that run on parts of the mesh";
  let description = [{
    A public function is cut, in the order of its ops, into private functions of which the slowest takes the least time,
    sending its results included, by the cost model that the runtime's clock has. Each is for the mesh of
    `ttcore.device`; they lie side by side, and the mesh of all of them is `mesh-shape`, or, where that is not
    given or one chip, as many columns as they need.
    Later stages are given what they use by the stage that makes it. Every stage brings weights to their layout for
    itself, and loads what is cached.

    A function with `ttcore.micro_batches` (`ttir-micro-batches`) becomes a pipeline for one stage, too. It runs before
    tensors are deallocated.

    Before, with `num-stages=2`:
    ```mlir
    func.func @main(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      %1 = "ttnn.tanh"(%0) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      return %1 : tensor<32x32xf32, #l>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> attributes {ttcore.stages_mesh = array<i64: 1, 2>} {
      %0 = call @main_stage_0(%x) {ttcore.mesh_offset = array<i64: 0, 0>} : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      %1 = call @main_stage_1(%0) {ttcore.mesh_offset = array<i64: 0, 1>} : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      return %1 : tensor<32x32xf32, #l>
    }
    ```
  }];
  let options = [
    Option<"numStages", "num-stages", "int64_t", "1", "Stages of each function">,
    ListOption<"meshShape", "mesh-shape", "int64_t", "Rows and columns of the mesh of all stages">,
  ];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect", "::mlir::func::FuncDialect"];
}

def TTNNAdjustDeallocs : Pass<"ttnn-adjust-deallocs"> {
  let summary = "Remove deallocations of values that the next run needs";
  let description = [{
    That are arguments marked parameter or constant, and results of `ttcore.load_cached`. `ttnn-deallocate` makes none of
    these: programs of others may have them.

    Before, `%w` being a parameter:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
    "ttnn.deallocate"(%w) <{force = false}> : (tensor<32x32xbf16, #l>) -> ()
    ```
    After:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
    ```
  }];
}

def TTNNForceFinalDeallocs : Pass<"ttnn-force-final-deallocs"> {
  let summary = "Force the last deallocation of a tensor to free its memory";
  let description = [{
    A deallocation that nothing follows in its block which uses the tensor gets `force`.

    Before:
    ```mlir
    "ttnn.deallocate"(%0) <{force = false}> : (tensor<64x96xf32, #l>) -> ()
    ```
    After:
    ```mlir
    "ttnn.deallocate"(%0) <{force = true}> : (tensor<64x96xf32, #l>) -> ()
    ```
  }];
}

def TTNNRemoveDeallocs : Pass<"ttnn-remove-deallocs"> {
  let summary = "Remove all deallocations";
  let description = [{
    Every tensor lives to the end of its program then, which helps to look at values.

    Before:
    ```mlir
    %0 = "ttnn.relu"(%x) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    %1 = "ttnn.exp"(%0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    "ttnn.deallocate"(%0) <{force = false}> : (tensor<64x96xf32, #l>) -> ()
    ```
    After:
    ```mlir
    %0 = "ttnn.relu"(%x) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    %1 = "ttnn.exp"(%0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    ```
  }];
}

def TTNNSimplifyLocsForCodegen : Pass<"ttnn-simplify-locs-for-codegen"> {
  let summary = "Reduce locations of ops to their names";
  let description = [{
    Of ops of TTNN. Locations without a name stay, and so do numbers of source ops.

    Before: `loc("encoder.query"("net.py":3:8))`
    After: `loc("encoder.query")`
  }];
}

// On modules: adds functions.
def TTNNTraceHoistTransform : Pass<"ttnn-trace-hoist-transform", "::mlir::ModuleOp"> {
  let summary = "Record programs as traces of the device";
  let description = [{
    The most ops of a program that stand together and work on the device alone become a function. The first run records
    it, the others run the recording on what they write into its slots. What is evaluated once comes before, what writes
    to an operand (caches) stays in the program, as do transfers.

    Before:
    ```mlir
    func.func @main(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %d = "ttnn.get_device"() : () -> !ttnn.device
      %0 = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @allocate_slots_trace_0_main,
          capture_callee = @run_and_capture_trace_0_main, execute_callee = @execute_trace_0_main,
          operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    func.func private @trace_0_main(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> attributes {tt.function_type = "trace_main"} {
      %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    func.func private @allocate_slots_trace_0_main() -> tensor<32x32xf32, #l> attributes {tt.function_type = "trace_allocate_slots"} {
      %0 = "ttnn.empty"(%d) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #l>
    func.func private @run_and_capture_trace_0_main(%x: tensor<32x32xf32, #l>) -> (tensor<ui32, #ttnn.trace_id>, tensor<32x32xf32, #l>) attributes {tt.function_type = "trace_run_and_capture"} {
      %0 = call @trace_0_main(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      %1 = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
      %2 = call @trace_0_main(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      "ttnn.end_trace_capture"(%d, %1) : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
    func.func private @execute_trace_0_main(%1: tensor<ui32, #ttnn.trace_id>) attributes {tt.function_type = "trace_execute"} {
      "ttnn.execute_trace"(%d, %1) : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: one file for all functions.
def TTNNCollectPerfMetrics : Pass<"ttnn-collect-perf-metrics", "::mlir::ModuleOp"> {
  let summary = "Write metrics of the programs to a file";
  let description = [{
    Changes nothing. The file is JSON: `summary` counts ops with a result in memory (`total_ops`), by the memory
    (`dram_ops`, `l1_ops`, `system_memory_ops`), and those whose result is sharded (`sharded_ops`,
    `sharded_percentage`); `op_counts` counts by name. With `ttnn-perf-metrics-verbose-output-enabled`, `operations` has
    each op: function, name, location, shape, data type, memory, grid; and, where the module names its chip, the time on
    it and the circular buffers of a core that the cost rules estimate (`estimated_ns`, `circular_buffer_bytes`). What is
    evaluated once is not counted.

    Before:
    ```mlir
    %0 = "ttnn.relu"(%x) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
    ```
    After: the same, and a file with `{"op_counts": {"ttnn.relu": 1}, "summary": {"total_ops": 1, "dram_ops": 1, ...}}`
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"outputFile", "ttnn-perf-metrics-output-file", "std::string", "\"ttnn_perf_metrics.json\"", "The file">,
    Option<"verbose", "ttnn-perf-metrics-verbose-output-enabled", "bool", "false", "Each op by itself, too">,
    Option<"enableTrace", "ttnn-enable-trace", "bool", "false",
           "If the module has traces, count only the ops in traces">
  ];
}

include "ttmlir/Dialect/TTNN/Transforms/OptimizerPasses.td"

//===----------------------------------------------------------------------===//
// Nothing to do on the simulated chip
//===----------------------------------------------------------------------===//

// A pass on modules: changes the types of functions and of their calls.
def TTNNConstEvalInputsToSystemMemory : Pass<"ttnn-force-const-eval-to-system-memory", "::mlir::ModuleOp"> {
  let summary = "Keep inputs of const-eval functions in host memory";
  let description = [{
    An argument that nothing but `ttcore.load_cached` reads is given in system memory, in rows (block formats: in tiles).
    The function that is evaluated sends it to the device, and frees it there. What lies in shards, and what a function
    evaluates that is called from several places, stays as it is.

    Before:
    ```mlir
    func.func @main(%w: tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram> {
      %0 = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
      return %0 : tensor<32x32xf32, #dram>
    }
    func.func private @main_const_eval_0(%w: tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram> attributes {tt.function_type = "const_eval"} {
      %0 = "ttnn.exp"(%w) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
      return %0 : tensor<32x32xf32, #dram>
    }
    ```
    After:
    ```mlir
    func.func @main(%w: tensor<32x32xf32, #host>) -> tensor<32x32xf32, #dram> {
      %0 = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<32x32xf32, #host>) -> tensor<32x32xf32, #dram>
      return %0 : tensor<32x32xf32, #dram>
    }
    func.func private @main_const_eval_0(%w: tensor<32x32xf32, #host>) -> tensor<32x32xf32, #dram> attributes {tt.function_type = "const_eval"} {
      %0 = "ttnn.to_layout"(%w) : (tensor<32x32xf32, #host>) -> tensor<32x32xf32, #dram>
      %1 = "ttnn.exp"(%0) : (tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram>
      return %1 : tensor<32x32xf32, #dram>
    }
    ```
  }];
}

// A pass on modules: it calls other functions.
def TTNNResolveComposites : Pass<"ttnn-resolve-composites", "::mlir::ModuleOp"> {
  let summary = "Replace composites by ops, or by calls of their decompositions";
  let description = [{
    A composite is replaced by the op of its name (without a prefix such as `tenstorrent.`) if this op accepts the
    composite's inputs and attributes and has its result types. Otherwise, its decomposition is called;
    `ttir-inline-functions` inlines the call. `composite-resolution` says what is tried:

    - `auto`, `validate`: the op, then the decomposition,
    - `inline`: the decomposition only,
    - `force-promote`: the op only. A composite that it does not accept is an error, which holds the verifier's reason.

    Before:
    ```mlir
    %0 = "ttcore.composite"(%x) <{composite_name = "tenstorrent.silu", decomposition = @silu}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "ttcore.composite"(%0) <{composite_name = "twice", decomposition = @twice}> : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = "ttnn.silu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttnn::TTNNDialect"];
  let options = [
    Option<"resolution", "composite-resolution", "::mlir::tt::ttnn::CompositeResolution",
           "::mlir::tt::ttnn::CompositeResolution::Auto", "The lowering of a composite",
           [{::llvm::cl::values(
               clEnumValN(::mlir::tt::ttnn::CompositeResolution::Auto, "auto", "The op, then the decomposition"),
               clEnumValN(::mlir::tt::ttnn::CompositeResolution::Inline, "inline", "The decomposition"),
               clEnumValN(::mlir::tt::ttnn::CompositeResolution::Validate, "validate", "As auto"),
               clEnumValN(::mlir::tt::ttnn::CompositeResolution::ForcePromote, "force-promote", "The op"))}]>
  ];
}

class TTNNNothingToDo<string argument, string why, string text> : Pass<argument> {
  let summary = "Nothing to do: " # why;
  let description = text # " Programs stay as they are.\n";
}

def TTNNWorkarounds : TTNNNothingToDo<"ttnn-workaround", "the simulated library needs no workarounds",
    "The place for what a library cannot do. The simulated one takes every layout and type that its ops' definitions allow."> {
  let options = [
    Option<"layoutWorkarounds", "ttnn-enable-layout-workaround-pass", "bool", "true", "Workarounds of layouts">,
    Option<"decompositionWorkarounds", "ttnn-enable-decomposition-workaround-pass", "bool", "true",
           "Workarounds by decomposition">,
    Option<"optimizationLevel", "ttnn-optimization-level", "int", "0", "Level of the optimizer">
  ];
}

def TTNNEmitPyWorkarounds : TTNNNothingToDo<"ttnn-emitpy-workarounds", "Python calls the same library",
    "Emitted Python, emitted C++ and flatbuffers call the same functions.">;

def TTNNDecomposition : TTNNNothingToDo<"ttnn-decomposition", "the simulated library has every op that is lowered to",
    "An op that the library lacked would be written with others here.\n`convert-ttir-to-ttnn` makes only ops that it has.\n"> {
  let options = [
    Option<"enableOpConstraints", "enable-op-constraints", "bool", "false", "Decompose what an op model refuses">,
    Option<"maxFallbackAttempts", "max-fallback-attempts", "uint32_t", "10000", "Questions to the op model">
  ];
}

def TTNNMemoryManagement : TTNNNothingToDo<"ttnn-memory-management", "tensors are freed after their last use",
    "`ttnn-deallocate` frees a tensor as early as possible, and the executor reuses its memory.\n"> {
  let options = [Option<"aggressive", "aggressive-memory-saving", "bool", "true", "Save memory before time">];
}

def TTNNRowMajorLayoutPropagation : TTNNNothingToDo<"ttnn-rm-layout-propagation", "rows and tiles hold the same values in memory",
    "`ttnn-layout` leaves in rows what is prepared from rows; elsewhere a change between rows and tiles moves no value of "
    "the simulated memory.\n">;

def TTNNPrepareConv2dWeightsAndBias : TTNNNothingToDo<"ttnn-prepare-conv2d-weights-and-bias",
    "a convolution prepares its weight once by itself",
    "The order that is fastest depends on the machine: it is chosen when the kernel of a convolution is created, once "
    "for all runs if the weight is a constant.">;

def TTNNPrepareConv3dWeights : TTNNNothingToDo<"ttnn-prepare-conv3d-weights",
    "a convolution prepares its weight once by itself",
    "Follows the rules of conv2d. A `ttnn.prepare_conv3d_weights` of the program stays, and gives the same result.">;

def TTNNPrepareConstEvalCaching : TTNNNothingToDo<"ttnn-prepare-const-eval-caching",
    "the executor keeps what is evaluated once",
    "`ttcore.load_cached` is all that a program says; emitted C++ and Python have a cache of their own.">;

def TTNNConfigureCCLOps : TTNNNothingToDo<"ttnn-configure-ccl-ops", "collectives choose links and buffers themselves",
    "The simulated fabric takes the topology from the device, and needs no number of links.">;

def TTNNAllocateDistributedOpBuffers : TTNNNothingToDo<"ttnn-allocate-distributed-op-buffers",
    "collectives have their own buffers", "The simulated library allocates what a collective needs when it runs.">;

def TTNNAllocateDistributedOpSemaphores : TTNNNothingToDo<"ttnn-allocate-distributed-op-semaphores",
    "collectives have their own semaphores", "The simulated library waits for the other devices without semaphores of the program.">;

def TTNNDeduceMoEComputeLayouts : TTNNNothingToDo<"ttnn-deduce-moe-compute-layouts",
    "experts take tensors wherever they lie",
    "`ttnn.moe_compute` and what prepares its weights have no layouts of their own: `ttnn-layout` chooses them.">;

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_TD
