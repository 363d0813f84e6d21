//===- Passes.td - passes on StableHLO for meshes ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A pass on modules: meshes are symbols of the module, and signatures change.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class StableHLO_Pass<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect", "::mlir::sdy::SdyDialect",
                           "::mlir::tt::ttcore::TTCoreDialect", "::mlir::func::FuncDialect"];
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

def ConvertXlaSdyToSdy : StableHLO_Pass<"convert-xla-sdy-to-sdy"> {
  let summary = "Convert XLA's attribute strings to attributes of the sdy dialect";
  let description = [{
    Meshes come from the module's `mhlo.frontend_attributes`, shardings from those of arguments. A module without
    argument that has a sharding of this form stays as it is.

    Before: `%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\"x\"} ]>"}}`
    After: `%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}`
  }];
}

def PartiallyConvertSdyToStableHLO : StableHLO_Pass<"partially-convert-sdy-to-stablehlo"> {
  let summary = "Convert constants of the sdy dialect to StableHLO";
  let description = [{
    Before: `%0 = sdy.constant dense<1.0> : tensor<4xf32>`
    After: `%0 = stablehlo.constant dense<1.0> : tensor<4xf32>`
  }];
}

def ApplyArgumentShardStatus : StableHLO_Pass<"apply-argument-shard-status"> {
  let summary = "Mark each argument and result as presharded or not";
  let description = [{
    `ttcore.shard_status` of an argument is `presharded` where it has a sharding, else `unsharded`: then it is one
    tensor, which the program distributes. Results of public functions are presharded as the option says.

    Before: `func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32>`
    After: `%a: tensor<8xf32> {sdy.sharding = ..., ttcore.shard_status = #ttcore.shard_status<presharded>}`
  }];
  let options = [ListOption<"resultPresharded", "result-presharded", "int64_t",
                            "1 for each result that the caller takes as one tensor per device, else 0; none: all 0">];
}

def AnalyzeMesh : StableHLO_Pass<"analyze-mesh"> {
  let summary = "Reduce the module to one mesh of two axes, and convert sharding calls to ops";
  let description = [{
    The mesh is the module's own, a row where it has one axis; else the one of the annotations of GSPMD; else
    `mesh-shape`, with axes "x" and "y". With `automatic-arg-analysis`, inputs of the highest rank are split by their
    first dimension over a mesh `1,N`.

    Before: `sdy.mesh @mesh = <["x"=8]>`
    After: `sdy.mesh @mesh = <["x_aux"=1, "x"=8]>`
  }];
  let options = [ListOption<"meshShape", "mesh-shape", "int64_t", "Rows and columns of the mesh">,
                 Option<"automaticArgAnalysis", "automatic-arg-analysis", "bool", "false",
                        "Split batches of inputs over the mesh">];
}

def AutoShardingPass : StableHLO_Pass<"auto-sharding"> {
  let summary = "Choose the shardings of public functions by estimated time";
  let description = [{
    Of all ways to split ops, arguments and values along the axes of the mesh, one for each factor of their sharding
    rules, those are chosen that take least time, as the clock of the simulated chips counts it, and with which
    arguments and live values fit in the memory of a chip. What is annotated stays. Ops without a rule are computed
    whole, loops and branches among them. docs/meshes.md describes the search and its report.

    Before: `%0 = stablehlo.dot_general %x, %w, ...` without shardings
    After: shardings on arguments, results and ops, and `sdy.reshard` where values change theirs
  }];
  let options = [Option<"dumpVariants", "dump-variants", "bool", "false",
                        "Write the module in each variant that was compared, and the costs, to dump-dir">,
                 Option<"dumpDir", "dump-dir", "std::string", "\"/tmp/\"", "Folder for the variants">,
                 Option<"reportFile", "report-file", "std::string", "\"\"",
                        "Write what was chosen, and what it and the other variants cost, as JSON">,
                 Option<"dramBytes", "dram-bytes", "int64_t", "0",
                        "Bytes that a chip can hold; 0: the DRAM of the module's system descriptor">];
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

def StableHLOFusing : StableHLO_Pass<"stablehlo-fusing"> {
  let summary = "Fuse concatenated copies to broadcasts, and drop reshapes of indices";
  let description = [{
    Ops with shardings stay as they are.

    Before: `%1 = stablehlo.concatenate %0, %0, %0, dim = 0 : ...`, of a `tensor<1x4xf32>`
    After: `%1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<3x4xf32>`
  }];
}

def DecoupleConstFanout : StableHLO_Pass<"decouple-const-fanout"> {
  let summary = "Clone broadcasts of constants for each use";
  let description = [{
    In functions with an argument that is split: each use can be split its own way.

    Before: two users of `%1 = stablehlo.broadcast_in_dim %cst, dims = [] : ...`
    After: each has a broadcast of its own
  }];
}

def DecomposeCustomCallTuples : StableHLO_Pass<"decompose-custom-call-tuples"> {
  let summary = "Replace elements of tuples by their values";
  let description = [{
    Before: `%t = stablehlo.custom_call @f(%a) : (...) -> tuple<tensor<4xf32>, tensor<2xi32>>`, and its elements
    After: `%t:2 = stablehlo.custom_call @f(%a) : (...) -> (tensor<4xf32>, tensor<2xi32>)`
  }];
}

def FlattenOrConvertComposites : StableHLO_Pass<"flatten-or-convert-composites"> {
  let summary = "Replace composites by their decompositions, or by calls if they have a sharding rule";
  let description = [{
    In modules with shardings. The ops of a decomposition are marked, so that `reoutline-composite` finds them.

    Before: `%0 = stablehlo.composite "tenstorrent.gelu" %a {decomposition = @gelu} : ...`
    After: the ops of `@gelu` with `reoutline.group = "composite_gelu_0"`
  }];
}

def ReoutlineComposite : StableHLO_Pass<"reoutline-composite"> {
  let summary = "Rebuild composites from the ops that were one";
  let description = [{
    Where they still lie together; else they stay as they are, without their marks.

    Before: the ops that `flatten-or-convert-composites` marked
    After: `%0 = stablehlo.composite "tenstorrent.gelu" %a {decomposition = @outlined_composite_gelu_0} : ...`
  }];
}

def FuseDistributedCustomCalls : StableHLO_Pass<"fuse-distributed-custom-calls"> {
  let summary = "Normalize rows that are split over several devices without gathering them";
  let description = [{
    A call of `tenstorrent.rms_norm` whose operands are gathered along the last dimension, and whose result is sliced as
    they were, becomes one on what each device holds: devices exchange sums of squares instead of rows. Calls on meshes
    of more than two axes, and those that gather along several axes, stay.

    Before:
    ```mlir
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, ...}> : (tensor<32x32xf32>) -> tensor<32x128xf32>
    %1 = stablehlo.custom_call @tenstorrent.rms_norm(%0) {...} : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %2 = stablehlo.composite "sdy.all_slice" %1 {...} : (tensor<32x128xf32>) -> tensor<32x32xf32>
    ```
    After:
    ```mlir
    %2 = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%x) {...} : (tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
  }];
}

def RegisterCustomShardingRule : StableHLO_Pass<"register-custom-sharding-rule"> {
  let summary = "Changes nothing: the rules of custom calls are always registered";
  let description = [{
    Changes nothing. Propagation has the rules of the custom calls that it knows, of scatters and of batch norms
    (`sdy-populate-op-sharding-rules` prints them); `register-user-sharding-rule` takes those of users.
  }];
}

def RegisterUserShardingRule : StableHLO_Pass<"register-user-sharding-rule"> {
  let summary = "Register the users' sharding rules of custom calls";
  let description = [{
    Before: `mhlo.frontend_attributes = {xla.sdy.custom_sharding_rule = "#sdy.op_sharding_rule<([i])->([i]) {i=8}>"}`
    After: `sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>` next to it
  }];
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

def GspmdToSdy : StableHLO_Pass<"gspmd-to-sdy"> {
  let summary = "Convert annotations of GSPMD to shardings along the axes of one mesh";
  let description = [{
    Of arguments, results and custom calls `Sharding`; a function that is called between `SPMDFullToShardShape` and
    `SPMDShardToFullShape`, as JAX writes shard_map, becomes a manual computation. The mesh has an axis for each prime
    factor of `mhlo.num_partitions`.

    Before: `%0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}`
    After: `%0 = sdy.sharding_constraint %a <@mesh, [{"axis_0"}, {} ]>`
  }];
}

def InlineCalls : StableHLO_Pass<"stablehlo-inline-calls"> {
  let summary = "Inline calls, also in loops and branches";
  let description = [{
    MLIR's inliner leaves calls in regions of StableHLO, and of functions that have ops of CHLO. Functions that call
    themselves are errors; private ones without uses are removed. Named computations of Shardy are inlined
    as well; their shardings become constraints.
  }];
}

def PrepareSpmd : StableHLO_Pass<"prepare-spmd"> {
  let summary = "Prepare a module of many partitions: one mesh, presharded arguments and results";
  let description = [{
    For modules as JAX hands them over, `mhlo.num_partitions` devices in all. Meshes that read the same devices by other
    axes become one, whose axes are the parts that all share; a module without a mesh gets one. Arguments without a
    sharding are replicated, and arguments and results come and go as one tensor for each device. Constraints that
    constrain nothing (in computations of elements, or where all axes are manual) are dropped.

    Before: meshes `<["x"=4]>` and `<["a"=2, "b"=2]>`, and shardings `[{"x"} ]` and `[{"b"} ]`
    After: `<["axis_0"=2, "axis_1"=2]>`, `[{"axis_0", "axis_1"} ]` and `[{"axis_1"} ]`
  }];
}

def AnnotateXlaShardings : StableHLO_Pass<"annotate-xla-shardings"> {
  let summary = "Add XLA's sharding annotations to arguments and results of partitioned functions";
  let description = [{
    For public functions whose arguments manual computations take, and whose results they give.

    After: `%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}"}`
  }];
}

def DeviceProgram : StableHLO_Pass<"device-program"> {
  let summary = "Convert a partitioned program to the StableHLO program of each device";
  let description = [{
    For readers that know StableHLO and nothing of Shardy, behind `stablehlo-spmd-pipeline`: manual computations become a
    part of their function, which takes and gives what one device holds. Meshes and attributes of this toolchain go.

    Before:
    ```mlir
    func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[<@mesh, [{"x"} ]>] manual_axes={"x"} (%b: tensor<4xf32>) {
        %1 = stablehlo.sine %b : tensor<4xf32>
        sdy.return %1 : tensor<4xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    After:
    ```mlir
    func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.sine %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def PartitionStableHLO : StableHLO_Pass<"partition-stablehlo"> {
  let summary = "Partition an unpartitioned module: propagate shardings and insert collectives";
  let description = [{
    The passes from `sdy-user-priority-propagate` to `shardy-ccl-canonicalization`, for modules that have no manual
    computation yet and are not annotated by GSPMD; other modules stay as they are.
  }];
  let options = [Option<"wholeAxes", "whole-axes", "bool", "false",
                        "Unless one is given parts of axes, arguments and results are split along whole axes, which is "
                        "what `ttir.mesh_shard` can say">];
}

def InsertReshardsForUnpropagatedOps : StableHLO_Pass<"insert-reshards-for-unpropagated-ops"> {
  let summary = "Gather the operands of reshapes whose result has no sharding after propagation";
  let description = [{
    Before: `%1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>`
    After: `%g = sdy.reshard %0 <@mesh, [{} ]> : tensor<6xf32>`, and the reshape of `%g`
  }];
}

def ReplicateNonSplittableValues : StableHLO_Pass<"replicate-non-splittable-values"> {
  let summary = "Replicate values of ops that cannot be split";
  let description = [{
    The result of an op is whole along dimensions that it does not compute in parts of equal size: those that do not
    divide, and those along which elements move between devices, such as the sliced dimension of a slice, the padded
    one of a pad and the windows of a convolution. A reshard gives the value its parts again. Shardings that were
    propagated to values that do not divide are dropped.

    Before: `%1 = stablehlo.slice %0 [0:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : ...`
    After: the slice of a reshard of `%0` to `[{} ]`, and a reshard of its result to `[{"x"} ]`
  }];
  let options = [Option<"wholeAxes", "whole-axes", "bool", "false",
                        "Arguments and results of functions are split along whole axes only">];
}

def WrapUnderManualComputation : StableHLO_Pass<"wrap-under-manual-computation"> {
  let summary = "Wrap the bodies of public functions in manual computations";
  let description = [{
    Arguments and results keep their shardings as those of the computation; a missing one is replicated. Axes are not
    manual yet: shapes stay global.

    Before: `func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) -> ... { ... }`
    After: `%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ]>] ... manual_axes={} (%b: tensor<8xf32>) ...`
  }];
}

def ShardyCCLCanonicalization : StableHLO_Pass<"shardy-ccl-canonicalization"> {
  let summary = "Merge and drop collectives of the sdy dialect";
  let description = [{
    Collectives along no axes are dropped, an `all_slice` of what was gathered along the same axes is the value before
    it, and an `all_reduce` whose users slice along its axes becomes a `reduce_scatter`.

    Before: `%1 = sdy.all_gather [{"x"} ] %0 ...`, `%2 = sdy.all_slice [{"x"} ] %1 ...`
    After: `%0`
  }];
}

def AnnotateLocalShapes : StableHLO_Pass<"annotate-local-shapes"> {
  let summary = "Annotate presharded arguments and results with the shape of one device's part";
  let description = [{
    Before: `%a: tensor<8xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}`, split over two devices
    After: the same with `ttcore.local_shape = #ttcore<local_shape local_shape = tensor<4xf32>>`
  }];
}

def UpdateGlobalToLocalShapes : StableHLO_Pass<"update-global-to-local-shapes"> {
  let summary = "Convert the types in manual computations to those of one device's part";
  let description = [{
    All axes of the mesh become manual, values take their local types, and collectives of the sdy dialect become those
    of StableHLO, one for each axis.

    Before:
    ```mlir
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[<@mesh, [{} ]>] manual_axes={} (%b: tensor<8xf32>) {
      %1 = sdy.all_gather [{"x"} ] %b out_sharding=<@mesh, [{} ]> : tensor<8xf32>
      sdy.return %1 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
    After:
    ```mlir
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[<@mesh, [{} ]>] manual_axes={"x"} (%b: tensor<4xf32>) {
      %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, ...}> : (tensor<4xf32>) -> tensor<8xf32>
      sdy.return %1 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD
