//===- Passes.td - the lowering of StableHLO to TTIR -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD
#define TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArithToStableHLO : Pass<"convert-arith-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Convert constant tensors of the arith dialect to StableHLO";
  let description = [{
    Before: `%0 = arith.constant dense<1.0> : tensor<4xf32>`
    After: `%0 = stablehlo.constant dense<1.0> : tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

// A pass on modules: meshes are symbols and become an attribute of the module.
def ConvertSdyToTTCore : Pass<"convert-sdy-to-ttcore", "::mlir::ModuleOp"> {
  let summary = "Convert meshes to a module attribute and drop trivial shardings";
  let description = [{
    A mesh of one axis becomes one row of devices, a mesh without axes a single device. Shardings along axes of size 1
    say nothing and are dropped, together with the ops that only carry them. The region of a manual computation takes
    its place, between `ttir.mesh_shard` of its operands and results; the composite `sdy.all_slice` becomes
    `ttir.mesh_partition`. A tensor that is split outside of a manual computation is an error: splitting is the work of
    the StableHLO pipeline.

    Before:
    ```mlir
    module {
      sdy.mesh @mesh = <["x"=1, "y"=1]>
      func.func @f(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<f32> {
        return %a : tensor<f32>
      }
    }
    ```
    After:
    ```mlir
    module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
      func.func @f(%a: tensor<f32>) -> tensor<f32> {
        return %a : tensor<f32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttir::TTIRDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

// A pass on modules: it looks up the called functions.
def StableHLOInlineRegionCalls : Pass<"stablehlo-inline-region-calls", "::mlir::ModuleOp"> {
  let summary = "Inline the calls in regions of reductions, scatters, sorts and maps";
  let description = [{
    Such a region is lowered as a formula. JAX has calls in them, of `jnp.where` and the like.

    Before: `%s = stablehlo.reduce(%x init: %c) ... reducer(%a, %b) { %m = func.call @larger(%a, %b) : ... }`
    After: `%s = stablehlo.reduce(%x init: %c) ... reducer(%a, %b) { %m = stablehlo.maximum %a, %b : ... }`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}

// A pass on modules: signatures and calls change together.
def StableHLOEraseTokens : Pass<"stablehlo-erase-tokens", "::mlir::ModuleOp"> {
  let summary = "Replace tokens by empty tensors";
  let description = [{
    Programs do what has effects in the order in which it stands, so tokens have nothing to say.

    Before: `%t = stablehlo.create_token : !stablehlo.token`
    After: `%t = stablehlo.constant dense<> : tensor<0xi1>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

// A pass on modules: signatures and calls change together.
def StableHLOComplexDataTypeConversion : Pass<"stablehlo-complex-data-type-conversion", "::mlir::ModuleOp"> {
  let summary = "Represent complex tensors by real tensors";
  let description = [{
    `tensor<3xcomplex<f32>>` becomes `tensor<3x2xf32>`, real and imaginary part last, in signatures, loops, branches and
    calls. Inside, the parts are tensors of their own: elementwise ops become formulas, movement and sums are done with
    each part, products four times, and Fourier transforms are products with matrices (lengths up to 4,096).
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect"];
}

// A pass on modules: signatures and calls change together.
def StableHLOLegalizeQuantToMath : Pass<"stablehlo-legalize-quant-to-math", "::mlir::ModuleOp"> {
  let summary = "Represent quantized tensors by integers, and expand their arithmetic";
  let description = [{
    In signatures, loops, branches and calls a quantized tensor is the integers that are stored. What only moves elements
    moves integers; other ops compute with the floats that the integers stand for, and quantize the result.

    Before:
    ```mlir
    %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    ```
    After: `%q = convert(round_nearest_even(clamp(-128, %x / 0.5 + 3, 127)))`, a `tensor<4xi8>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

// A pass on modules: signatures and calls change together.
def StableHLOLegalizeSmallFloats : Pass<"stablehlo-legalize-small-floats", "::mlir::ModuleOp"> {
  let summary = "Represent floats of 4, 6 and 8 bits by f32, and round results";
  let description = [{
    In signatures, loops, branches and calls such a tensor is one of f32, which has all their values. Every op computes
    in f32, and its result is rounded to the nearest value of the type (the even one of two) by its bits; what only moves
    elements is not rounded. A reduction or scatter is rounded at its end. Bits are produced and read where
    `stablehlo.bitcast_convert` asks for them.

    Before: `%r = stablehlo.add %a, %b : tensor<4xf8E4M3FN>`
    After: `%r = round(stablehlo.add %a, %b : tensor<4xf32>)`, where `round` is shifts, sums and selections of bits
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}

// A pass on modules: calls are inlined.
def StableHLOLegalizeWideIntegers : Pass<"stablehlo-legalize-wide-integers", "::mlir::ModuleOp"> {
  let summary = "Represent 64-bit integers that do not fit in 32 bits by pairs of words";
  let description = [{
    A 64-bit integer of the chip has 32 bits. Where a constant does not fit, bits are read as f64 or from f64, or two
    words are joined or split by a bitcast, the integers that meet it in elementwise ops and data movement become pairs
    of `ui32`. Loops and branches carry two words where one of these integers may not fit. In a module with such a
    constant or cast, calls that take or return 64-bit integers are inlined. Other ops and results take the lower word
    if ranges show that it holds the value; otherwise the constant or the cast is left, and refused later, or, if words
    are joined, the op is refused. Shifts by 32 or more become pairs in the same way, but are left if some op would take
    what may not fit. Sums and products with
    an integer of which only the type is known wrap around in 32 bits there, as they do without this pass. The bits of
    an f64 are read as the nearest f32. Random bits of a number in [1, 2), less 1, are read as a number from 2^-24 to
    1 - 2^-24: in f32, neither end of the range is a draw. An integer becomes an f32 in two roundings.

    Before: `%f = stablehlo.bitcast_convert %x : (tensor<4xui64>) -> tensor<4xf64>`
    After: `%f = stablehlo.convert %rounded : (tensor<4xf32>) -> tensor<4xf64>`, of the words of `%x`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def ExpandStableHLO : Pass<"expand-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Expand ops of StableHLO and CHLO that have no counterpart in TTIR";
  let description = [{
    Reductions of regions without a name in TTIR become halves that are combined, windows become slices, padding between
    elements a concatenation, factorizations loops, random bits arithmetic on words of 32 bits, and broadcasts of CHLO
    explicit. Custom calls and composites that an op stands for become that op; `tt.host_call` becomes
    `debug.host_call`, whose function is the call's `backend_config`.

    Before: `%r = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>`
    After: `%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect",
                           "::mlir::tt::debug::DebugDialect", "::mlir::tt::ttir::TTIRDialect"];
}

//===----------------------------------------------------------------------===//
// The expansions by their public names
//===----------------------------------------------------------------------===//

def ChloLegalizeToStablehlo : Pass<"chlo-legalize-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Expand ops of CHLO to ops of StableHLO";
  let description = [{
    By the formulas of the lowering, and others where TTIR has an op of its own. What has no formula is an error.

    Before: `%0 = chlo.square %a : tensor<4xf32> -> tensor<4xf32>`
    After: `%0 = stablehlo.multiply %a, %a : tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect"];
}

def StablehloComplexMathExpander : Pass<"stablehlo-complex-math-expander", "::mlir::func::FuncOp"> {
  let summary = "Expand functions of complex numbers to functions of real numbers";
  let description = [{
    Sums, products and quotients stay.

    Before: `%0 = stablehlo.exponential %z : tensor<4xcomplex<f32>>`
    After: `%0 = stablehlo.complex %re, %im : tensor<4xcomplex<f32>>`, with `e^x cos y` and `e^x sin y` of the parts
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect"];
}

def StablehloLegalizeDeprecatedOps : Pass<"stablehlo-legalize-deprecated-ops", "::mlir::func::FuncOp"> {
  let summary = "Replace deprecated ops by their successors";
  let description = [{
    Before: `%0 = stablehlo.broadcast %a, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>`
    After: `%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>`
  }];
  let options = [Option<"failOnUnused", "fail-on-unused", "bool", "true",
                        "Deprecated ops that nothing stands for are an error">];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def StablehloCompatibilityExpander : Pass<"stablehlo-compatibility-expander", "::mlir::ModuleOp"> {
  let summary = "Expand ops that a version of StableHLO lacks";
  let description = [{
    The tangent before 1.4.0, and batching dimensions of gather and scatter before 1.1.0.

    Before: `%0 = stablehlo.tan %a : tensor<4xf32>`
    After, with `target=1.0.0`: `%0 = stablehlo.divide %sine, %cosine : tensor<4xf32>`
  }];
  let options = [Option<"target", "target", "std::string", "", "MAJOR.MINOR.PATCH, from 0.9.0">];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def LegalizeStableHLOCompositeToTTIR : Pass<"legalize-stablehlo-composite-to-ttir", "::mlir::ModuleOp"> {
  let summary = "Replace composites that TTIR has an op for";
  let description = [{
    `expand-stablehlo` does this among other expansions. A composite without such an op stays for
    `stablehlo-legalize-composite-to-call`. Decompositions that nothing uses any more are removed.

    Before: `%0 = stablehlo.composite "tenstorrent.gelu" %a {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>`
    After: `%0 = "ttir.gelu"(%a) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect",
                           "::mlir::tt::ttir::TTIRDialect"];
}

// A pass on modules: regions become functions.
def OutlineStableHLOControlFlow : Pass<"outline-stablehlo-control-flow", "::mlir::ModuleOp"> {
  let summary = "Outline the regions of loops and branches to functions";
  let description = [{
    `stablehlo.while`, `if` and `case` become `ttcore.while` and `ttcore.case`, which name private functions of what was
    a region. What a region uses from outside becomes an argument, unless it is a small constant, which is cloned.
    What a loop carries without changing it is an argument, too.

    Before:
    ```mlir
    %r = "stablehlo.if"(%pred) ({ stablehlo.return %x : tensor<f32> },
                                { %n = stablehlo.negate %x : tensor<f32>
                                  stablehlo.return %n : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
    ```
    After: `%r = ttcore.case([@f_branch, @f_branch_0], %pred, [%x]) : tensor<i1>, (tensor<f32>) -> tensor<f32>`
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::func::FuncDialect"];
}

def ConvertStableHLOToTTIR : Pass<"convert-stablehlo-to-ttir", "::mlir::func::FuncOp"> {
  let summary = "Lower StableHLO to TTIR";
  let description = [{
    Most elementwise ops have a counterpart of another name. Products become matrix products between reshapes,
    reductions with a region of one op become that op's reduction, windows become pools, and convolutions
    `ttir.conv2d`. Every op that is left is named with the reason.

    Before: `%0 = stablehlo.exponential %a : tensor<4xf32>`
    After: `%0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

#endif // TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD
