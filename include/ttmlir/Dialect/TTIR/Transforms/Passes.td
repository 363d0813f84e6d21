//===- Passes.td - passes on TTIR --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on modules: numbers run through all functions.
def TTIRNumberOps : Pass<"ttir-number-ops", "::mlir::ModuleOp"> {
  let summary = "Number the ops of the source module";
  let description = [{
    Every op that has results and is no function, module or terminator gets its index in walk order as metadata of its
    location. Whatever it is lowered to keeps the location, so that a device result can be compared with the golden of
    the op it came from. A module that has numbers keeps them.

    Before:
    ```mlir
    %0 = "ttir.relu"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("net.py":3:8)
    ```
    After:
    ```mlir
    %0 = "ttir.relu"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<0 : i64>["net.py":3:8])
    ```
  }];
}

def TTIRNumberEpochs : Pass<"ttir-number-epochs", "::mlir::func::FuncOp"> {
  let summary = "Number epochs from the breaks between them";
  let description = [{
    `ttcore.epoch_break` of an op holds a label, or several. The first op with a label begins an epoch. If the function
    has a break, each of its ops gets the number of its epoch as `ttcore.epoch`. Passes that fuse ops keep ops of
    different epochs apart, and TTNN ops have the numbers, too. The pass also checks `ttcore.epoch`,
    `ttcore.fusion_group` and `ttcore.grid`.

    Before:
    ```mlir
    %0 = "ttir.matmul"(%a, %b) : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = "ttir.gelu"(%0) {ttcore.epoch_break = "gelu"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.matmul"(%a, %b) {ttcore.epoch = 0 : i64} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = "ttir.gelu"(%0) {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
}

// A pass on modules: it calls other functions.
def TTIRCutOps : Pass<"ttir-cut-ops", "::mlir::func::FuncOp"> {
  let summary = "Compute ops in parts";
  let description = [{
    `ttcore.cut` of an op holds a dimension of its result and a number of parts. An op computes each part from slices of
    the operands whose dimensions follow, and has the number of the part as `ttcore.part`. The parts are concatenated,
    unless all users are cut in the same way. `ttcore.cut_window` of a convolution holds a number of parts of its window;
    their results are added. Data movement ops ignore the attributes. An op that cannot be cut is an error.

    Before:
    ```mlir
    %0 = "ttir.matmul"(%x, %w) {ttcore.cut = array<i64: -1, 2>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.slice_static"(%w) <{begins = [0 : i32, 0 : i32], ends = [8 : i32, 3 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x6xf32>) -> tensor<8x3xf32>
    %1 = "ttir.matmul"(%x, %0) {ttcore.part = 0 : i64} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %2 = "ttir.slice_static"(%w) <{begins = [0 : i32, 3 : i32], ends = [8 : i32, 6 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x6xf32>) -> tensor<8x3xf32>
    %3 = "ttir.matmul"(%x, %2) {ttcore.part = 1 : i64} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %4 = "ttir.concat"(%1, %3) <{dim = 1 : si32}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    ```
  }];
}

def TTIRDecomposeComposites : Pass<"ttir-decompose-composites", "::mlir::ModuleOp"> {
  let summary = "Replace composites by calls of their decompositions";
  let description = [{
    `ttir-inline-functions` puts the decomposition in the place of the call.

    Before:
    ```mlir
    func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> { ... }
    %0 = "ttcore.composite"(%x) <{composite_name = "twice", decomposition = @twice}> : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

// A pass on modules: moves ops from function to function.
def TTIRInlineFunctions : Pass<"ttir-inline-functions", "::mlir::ModuleOp"> {
  let summary = "Inline calls";
  let description = [{
    An inlined op has the location of the call around its own. Private functions that nothing calls any more are
    removed, and so are tuples that carried values to and from them. Recursion is an error, because a program on the
    device has no calls. So is a call graph whose functions have more than `max-ops` ops when their calls are inlined:
    two calls on each of 24 levels are 2^24 copies.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @half(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "ttir.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "ttir.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [Option<"maxOps", "max-ops", "int64_t", "1 << 20",
                        "Ops that all functions with calls may have when these are inlined">];
}

// A pass on modules: warns once, and callers see the changed signatures.
def TTIRElementTypeNormalization : Pass<"ttir-element-type-normalization", "::mlir::ModuleOp"> {
  let summary = "Legalize element types to the data formats of the chip";
  let description = [{
    f64 becomes f32; signed and signless integers become si32, unsigned ones ui32, ui16 or ui8. i1 stays: it is the
    format of comparisons, one byte per value on the device.

    Signed integers of 8 and 16 bits keep their arithmetic: what may leave the narrow type is brought back to it, modulo
    2^8 or 2^16, by three ops after the op (a float that is cast to it is clamped). Integers of 64 bits are held in 32:
    a constant, `full`, `arange` or `pad` whose values do not fit is an error, other ops are warned of once per module. A
    bitcast of 64 bits is an error. Constants keep their data, which is converted when it is stored.

    Before: `%0 = "ttir.abs"(%a) : (tensor<4xi8>) -> tensor<4xi8>`
    After:
    ```mlir
    %m = "ttir.full"() <{fill_value = 255 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
    %s = "ttir.full"() <{fill_value = 128 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
    %0 = "ttir.abs"(%a) : (tensor<4xsi32>) -> tensor<4xsi32>
    %1 = "ttir.bitwise_and"(%0, %m) : (tensor<4xsi32>, tensor<1xsi32>) -> tensor<4xsi32>
    %2 = "ttir.bitwise_xor"(%1, %s) : (tensor<4xsi32>, tensor<1xsi32>) -> tensor<4xsi32>
    %3 = "ttir.subtract"(%2, %s) : (tensor<4xsi32>, tensor<1xsi32>) -> tensor<4xsi32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

// A pass on modules: calls are cast to the signatures of other functions.
def TTIRGlobalDataFormatConversion : Pass<"ttir-global-data-format-conversion", "::mlir::ModuleOp"> {
  let summary = "Convert computations to one float format";
  let description = [{
    Every float tensor inside a function becomes one of `target-format`: f32, bf16 or a block format (bfp_bf8, bfp_bf4,
    bfp_bf2, as tiles). Arguments are cast when they come in and results when they go out, so that a function's
    signature stays; constants are stored in the format, with no cast.

    Floats that say where something is keep their types, for a position in a narrow format is another one: what becomes
    an integer, operands of sines, integers as floats, and values that are computed from these and constants alone.

    Before:
    ```mlir
    func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = "ttir.relu"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = "ttir.typecast"(%a) : (tensor<4x4xf32>) -> tensor<4x4xbf16>
      %1 = "ttir.relu"(%0) : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %2 = "ttir.typecast"(%1) : (tensor<4x4xbf16>) -> tensor<4x4xf32>
      return %2 : tensor<4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
  let options = [Option<"targetFormat", "target-format", "std::string", "\"bf16\"", "Name of the data format">];
}

def TTIRImplicitBroadcastFold : Pass<"ttir-implicit-broadcast-fold"> {
  let summary = "Remove broadcasts that elementwise ops perform implicitly";
  let description = [{
    Before:
    ```mlir
    %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %1 = "ttir.add"(%a, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %1 = "ttir.add"(%a, %b) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def TTIRLocalizePresharded : Pass<"ttir-localize-presharded", "::mlir::func::FuncOp"> {
  let summary = "Use per-device shapes for presharded arguments and results";
  let description = [{
    A `ttir.mesh_shard` of type identity moves nothing: it says that an argument arrives, or a result leaves, in shards.
    The function then takes or returns the local shape, marked with the mesh it is distributed over.

    Before:
    ```mlir
    func.func @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x4xf32>) -> tensor<4x4xf32>
      ...
    ```
    After:
    ```mlir
    func.func @f(%a: tensor<4x4xf32, #ttcore.tensor_mesh<"mesh">>) -> ...
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

def TTIRHoistConstants : Pass<"ttir-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "Keep large constants outside the text of the module";
  let description = [{
    Dense constants of `min-bytes` or more become resources, which no pass compares, hashes or prints by value.

    Before: `"ttir.constant"() <{value = dense<[...]> : tensor<1024xf32>}>`
    After: `"ttir.constant"() <{value = dense_resource<constant> : tensor<1024xf32>}>`
  }];
  let options = [Option<"minBytes", "min-bytes", "int64_t", "4096", "Size from which constants are hoisted">];
}

// A pass on modules: the public functions of a module are cut alike.
def TTIRMicroBatches : Pass<"ttir-micro-batches", "::mlir::ModuleOp"> {
  let summary = "Divide the batch of functions into micro-batches";
  let description = [{
    Dimension 0 of the arguments that `ttcore.argument_type` calls inputs (of the first, where none has it) is cut into
    `count` equal parts, and of all that is computed from them. Such arguments and results get `ttcore.micro_batch`, the
    function `ttcore.micro_batches`. An op whose rows depend on each other, or that is not known to work on each row by
    itself, is an error.

    Before, with `count=2`:
    ```mlir
    func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
      %0 = "ttir.matmul"(%x, %w) : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<32x32xf32> {ttcore.micro_batch}, %w: tensor<32x32xf32>) -> (tensor<32x32xf32> {ttcore.micro_batch}) attributes {ttcore.micro_batches = 2 : i64} {
      %0 = "ttir.matmul"(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
  }];
  let options = [Option<"count", "count", "int64_t", "1", "Micro-batches of the batch">];
}

def TTIRFusing : Pass<"ttir-fusing"> {
  let summary = "Fuse several ops into one";
  let description = [{
    - an addition of a row to a matmul or linear, and of one value per channel to a convolution, becomes its bias;
    - batch_norm_inference of constant statistics scales the constant weights of the convolution before it; without
      one, it is a multiplication and an addition, whose operands are computed ahead;
    - a transpose (with an option, a permute) of matrices becomes the transposition flag of their matmul or linear;
    - a slice of rows or columns of a matmul or linear, which nothing else uses, is the product of these rows of its
      left or columns of its right side;
    - a dot_general of matrices is a matmul, and a conv3d of single voxels a linear;
    - max(x, 0) is relu, min(relu(x), 6) and clamp(x, 0, 6) are relu6, x * sigmoid(x) is silu, x * tanh(softplus(x))
      mish, 0.5 * x * (1 + erf(x / sqrt(2))) and 0.5 * x * erfc(-x / sqrt(2)) gelu, and relu6(x + 3) / 6 hardsigmoid,
      also of y * relu6(x + 3) / 6;
    - a sum over the number of its elements is mean, unless sizes are open;
    - a sum of two convolutions of one image, where one window contains the other, is one convolution, if their weights
      are constant;
    - a reshape that merges the rows of a product with one matrix, and one that splits them again, are left out;
    - a reshape, a broadcast and a reshape that repeat each element of a dimension are repeat_interleave;
    - x * rsqrt(mean(x * x) + epsilon) is rms_norm, and what its rows are multiplied with its weight, also with a cast
      between; of x - mean(x) it is layer_norm of x, and what is added to its rows the bias;
      exp(x - max(x)) / sum(exp(x - max(x))) is softmax;
    - softmax(q @ k^T * scale + mask) @ v is scaled_dot_product_attention, with casts, scales of single sides, reshapes
      of the leading dimensions, conditions as masks and repeated heads of keys and values.

    A value on the way that something else uses, or that `ttcore.observed` names, stays, and with it its ops. The fused
    op has the location of the last op of its group.

    Before:
    ```mlir
    %0 = "ttir.transpose"(%w) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %1 = "ttir.matmul"(%x, %0) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %2 = "ttir.add"(%1, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.linear"(%x, %w, %b) <{transpose_b = true}> : (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
  let options = [
    Option<"conv2dWithMultiplyEnabled", "ttnn-enable-conv2d-with-multiply-pattern", "bool", "false",
           "Scale the weights of a convolution by what its result is multiplied with">,
    Option<"permuteMatmulEnabled", "enable-permute-matmul-fusion", "bool", "false",
           "Take permutes of operands of matmul and linear into their transposition flags">,
    Option<"permuteSliceAfterMatmulEnabled", "enable-permute-slice-after-matmul-fusion", "bool", "true",
           "Compute only the rows and columns of a product that a slice takes">,
    Option<"openSizes", "open-sizes", "bool", "false",
           "Fuse only what has the same form for all sizes of a program that leaves some open">
  ];
}

def TTIRChannelsLast : Pass<"ttir-channels-last"> {
  let summary = "Convert convolutions to channels-last images";
  let description = [{
    That is the order in which the chip convolves. The permutes that bring other images into it and back become ops, so
    that `ttir-erase-inverse-ops` sees those that cancel.

    Before:
    ```mlir
    %0 = "ttir.conv2d"(%x, %w) <{..., batch_dim = 0, channel_dim = 1, height_dim = 2, width_dim = 3}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
    %1 = "ttir.conv2d"(%0, %w) <{...}> : (tensor<1x8x8x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x8x8x6xf32>
    %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x8x8x6xf32>) -> tensor<1x6x8x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIREraseInverseOps : Pass<"ttir-erase-inverse-ops"> {
  let summary = "Erase inverse data movement ops";
  let description = [{
    Consecutive permutes and transposes become one, as do reshapes, squeezes and unsqueezes; those that cancel vanish,
    and so do slices, pads, broadcasts, repeats and casts that change nothing. Data movement ops move below elementwise
    ops where fewer of them are left then; constants next to them are moved instead, ahead of every run. Values that
    `ttcore.observed` names stay.

    Before:
    ```mlir
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
    %1 = "ttir.relu"(%0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.relu"(%x) : (tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
  let options = [
    Option<"commuteDownwards", "enable-commute-downwards", "bool", "true",
           "Move data movement below elementwise ops">,
    Option<"commuteUpwards", "enable-commute-upwards", "bool", "true",
           "With force: move data movement above elementwise ops">,
    Option<"maxIterations", "max-iterations", "uint64_t", "100",
           "Rounds in which data movement is commuted with elementwise ops">,
    Option<"force", "force", "bool", "false",
           "Also move data movement where as many of these ops are left, first up and then down">
  ];
}

include "ttmlir/Dialect/TTIR/Transforms/FormPasses.td"

//===----------------------------------------------------------------------===//
// Nothing to do
//===----------------------------------------------------------------------===//

class TTIRNothingToDo<string argument, string why, string text> : Pass<argument> {
  let summary = "Nothing to do: " # why;
  let description = text # " Programs stay as they are.\n";
}

def TTIRConsolidateStaticCacheUpdates : TTIRNothingToDo<"ttir-consolidate-static-cache-updates",
    "an update writes its rows in place",
    "A cache is written only where `fill_cache` and `update_cache` write, however many of them there are.">;

def TTIRMultiDeviceTensorAnnotation : TTIRNothingToDo<"ttir-multi-device-tensor-annotation",
    "ttnn-layout marks what is distributed",
    "`mesh_shard` says in TTIR what is in parts; the layouts of TTNN carry the mesh from there.">;

//===----------------------------------------------------------------------===//
// Facts about arguments
//===----------------------------------------------------------------------===//

def TTIRInferKVCacheArgumentTypes : Pass<"ttir-infer-kv-cache-argument-types"> {
  let summary = "Mark arguments that are caches of keys and values";
  let description = [{
    Arguments that fill_cache, update_cache, paged_fill_cache or paged_update_cache write to get `ttcore.kv_cache`.

    Before: `func.func @f(%cache: tensor<1x8x64x128xbf16>, %new: tensor<1x8x64x128xbf16>)`
    After: `func.func @f(%cache: tensor<1x8x64x128xbf16> {ttcore.kv_cache}, %new: tensor<1x8x64x128xbf16>)`
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

def TTIRPropagateWeightDtype : Pass<"ttir-propagate-weight-dtype"> {
  let summary = "Propagate the format of weights to products and convolutions";
  let description = [{
    `ttcore.weight_dtype` of an argument goes to the ops whose weight it is, also through reshapes, permutes, broadcasts
    and casts. `ttnn-weight-dtype-conversion` stores the weight so. What an op says itself stays.

    Before:
    ```mlir
    func.func @f(%x: tensor<4x8xbf16>, %w: tensor<8x8xbf16> {ttcore.weight_dtype = "bfp_bf8"}) -> tensor<4x8xbf16> {
      %0 = "ttir.matmul"(%x, %w) : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
    ```
    After:
    ```mlir
      %0 = "ttir.matmul"(%x, %w) {ttcore.weight_dtype = "bfp_bf8"} : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
}

#endif // TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD
