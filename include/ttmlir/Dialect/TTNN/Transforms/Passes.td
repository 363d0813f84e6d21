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
    library prepares them from rows, and tiles of small windows would be mostly padding. A tensor that a mesh_shard has
    distributed, and what is computed from it, is marked with its mesh. Tensors of tiles become tensors
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
    stored in the format; what else is a weight is cast to it.

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

def TTNNSetComputeKernelConfig : Pass<"ttnn-set-compute-kernel-config"> {
  let summary = "Set the compute kernel configuration of ops";
  let description = [{
    Every op that has a `compute_config` gets the fields that the options name, as far as it does not have them already.

    Before:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>) -> tensor<32x32xbf16, #c>
    ```
    After, with `math-fidelity=hifi2`:
    ```mlir
    %0 = "ttnn.matmul"(%x, %w) <{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2>}> : (tensor<32x64xbf16, #a>, tensor<64x32xbf16, #b>) -> tensor<32x32xbf16, #c>
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

// On modules: compares ops of all functions.
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

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_TD
