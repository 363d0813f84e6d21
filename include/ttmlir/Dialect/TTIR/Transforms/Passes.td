//===- Passes.td - passes on TTIR --------------------------*- tablegen -*-===//

#ifndef TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

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

def TTIRInlineFunctions : Pass<"ttir-inline-functions", "::mlir::ModuleOp"> {
  let summary = "Replace calls by what they call";
  let description = [{
    An inlined op has the location of the call around its own. Private functions that nothing calls any more are
    removed. Recursion is an error, because a program on the device has no calls.

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
}

def TTIRElementTypeNormalization : Pass<"ttir-element-type-normalization", "::mlir::ModuleOp"> {
  let summary = "Give every tensor an element type that a data format of the chip holds";
  let description = [{
    f64 becomes f32; signed and signless integers become si32, unsigned ones ui32, ui16 or ui8. i1 stays: it is the
    format of comparisons, one byte per value on the device. Constants keep their data, which is converted when it is
    stored; a value that does not fit is an error then.

    Before: `%0 = "ttir.abs"(%a) : (tensor<4xi64>) -> tensor<4xi64>`
    After: `%0 = "ttir.abs"(%a) : (tensor<4xsi32>) -> tensor<4xsi32>`
  }];
}

def TTIRGlobalDataFormatConversion : Pass<"ttir-global-data-format-conversion", "::mlir::ModuleOp"> {
  let summary = "Compute in one float format";
  let description = [{
    Every float tensor inside a function becomes one of `target-format`: f32, bf16 or a block format (bfp_bf8, bfp_bf4,
    bfp_bf2, as tiles). Arguments are cast when they come in and results when they go out, so that a function's
    signature stays; constants are stored in the format, with no cast.

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

def TTIRImplicitBroadcastFold : Pass<"ttir-implicit-broadcast-fold", "::mlir::ModuleOp"> {
  let summary = "Drop broadcasts that elementwise ops do by themselves";
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

def TTIRLocalizePresharded : Pass<"ttir-localize-presharded", "::mlir::ModuleOp"> {
  let summary = "Give arguments and results that are distributed outside the shape of one device";
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

#endif // TTMLIR_DIALECT_TTIR_TRANSFORMS_PASSES_TD
