// Options of the pipeline to TTNN: what each does, and what is refused.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="compute-cfg-math-fidelity=hifi3 compute-cfg-fp32-dest-acc-en=true" | FileCheck %s --check-prefix=CONFIG
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=experimental-kv-cache-dtype=bfp_bf8 | FileCheck %s --check-prefix=CACHE
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-remove-dead-values=true | FileCheck %s --check-prefix=DEAD
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefixes=FUSED,KEPT
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-optimization-passes=false | FileCheck %s --check-prefix=PLAIN
// RUN: ttmlir-opt %s --ttir-to-ttnn-common-pipeline | FileCheck %s --check-prefix=COMMON
// RUN: ttmlir-opt %s --ttir-to-ttnn-common-pipeline | ttmlir-opt --ttnn-common-to-runtime-pipeline | FileCheck %s --check-prefix=RUNTIME
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=check-unique-locs=true 2>&1 | FileCheck %s --check-prefix=LOCS
//
// The values that say to do without what is not here are accepted.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="optimization-level=0 enable-optimizer=false enable-trace=false disable-workarounds=true" | FileCheck %s --check-prefix=FUSED
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=optimization-level=3 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=tensor-l1-usage-cap=1.5 2>&1 | FileCheck %s --check-prefix=CAP
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=tensor-l1-usage-cap=0 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=max-legal-layouts=0 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ttmlir-opt %s --ttir-to-ttnn-runtime-pipeline=row-major-enabled 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-trace=true | FileCheck %s --check-prefix=TRACE

// Of what has nothing to do, both.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="disable-workarounds=false enable-layout-workaround-pass=true enable-decomposition-workaround-pass=1 enable-ttnn-decomposition-pass optimization-level=1 composite-resolution=force-promote enable-dram-space-saving-optimization-pass=false" | FileCheck %s --check-prefix=FUSED
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-layout-workaround-pass=some 2>&1 | FileCheck %s --check-prefix=EITHER
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=composite-resolution=some 2>&1 | FileCheck %s --check-prefix=COMPOSITE

// EITHER: for the --enable-layout-workaround-pass option: 'some' is not possible: the simulated library needs no workarounds; expected true or false, or nothing
// LEVEL: for the --optimization-level option: '3' is no level; expected 0, 1 or 2
// CAP: for the --tensor-l1-usage-cap option: '1.5' is no share; expected a number above 0, and 1 at most
// NOTHING: for the --tensor-l1-usage-cap option: '0' is no share; expected a number above 0, and 1 at most
// COUNT: for the --max-legal-layouts option: '0' is no count; expected 1 or more
// ROWS: for the --row-major-enabled option: 'true' is not possible: tensors of the device are tiles where an op computes; expected false, or nothing
// COMPOSITE: for the --composite-resolution option: 'some' is not possible: composites of StableHLO are lowered or decomposed before; expected auto or inline or validate or force-promote, or nothing
// TRACE: "ttnn.capture_or_execute_trace"

// LOCS: 'ttir.neg' op has the same location as the 'ttir.exp' before it

// CONFIG-LABEL: @product
// CONFIG: "ttnn.matmul"{{.*}}#ttnn.device_compute_kernel_config<math_fidelity = hifi3, fp32_dest_acc_en = true>
// FUSED-LABEL: @product
// FUSED: "ttnn.matmul"{{.*}}activation = "relu"
// PLAIN-LABEL: @product
// PLAIN: "ttnn.matmul"
// PLAIN-NOT: activation
// PLAIN: "ttnn.relu"
// COMMON-LABEL: @product
// COMMON-NOT: ttnn.deallocate
func.func @product(%a: tensor<32x32xbf16>, %b: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.relu"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1 : tensor<32x32xbf16>
}

// KEPT-LABEL: @unused
// KEPT: "ttnn.exp"
// DEAD-LABEL: @unused
// DEAD-NOT: "ttnn.exp"
// RUNTIME-LABEL: @unused
// RUNTIME: "ttnn.deallocate"
func.func @unused(%a: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.exp"(%a) : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("same")
  %1 = "ttir.neg"(%a) : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("same")
  return %1 : tensor<32x32xbf16>
}

// DEAD-LABEL: @cache
// CACHE-LABEL: @cache
// CACHE-SAME: (%{{.*}}: tensor<1x8x64x32xbf16, #[[CACHE:[a-z0-9_]+]]>, %{{.*}}: tensor<1x8x64x32xbf16, #[[NEW:[a-z0-9_]+]]>) -> tensor<1x8x64x32xbf16, #[[CACHE]]>
func.func @cache(%cache: tensor<1x8x64x32xbf16>, %new: tensor<1x8x64x32xbf16>) -> tensor<1x8x64x32xbf16> {
  "ttir.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x32xbf16>, tensor<1x8x64x32xbf16>) -> ()
  return %cache : tensor<1x8x64x32xbf16>
}
