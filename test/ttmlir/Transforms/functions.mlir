// Passes on functions run on each by itself, in threads, and over all functions of a module, with one result.
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(ttcore-register-device,func.func(ttir-localize-presharded,ttnn-layout),convert-ttir-to-ttnn,func.func(ttnn-weight-dtype-conversion{target-dtype=bfp_bf8},ttnn-kv-cache-dtype-conversion{target-dtype=bfp_bf8},ttnn-set-compute-kernel-config{math-fidelity=lofi},ttnn-decompose-layouts,ttnn-deallocate))' -o %t.functions
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(ttcore-register-device,func.func(ttir-localize-presharded),ttnn-layout,convert-ttir-to-ttnn,ttnn-weight-dtype-conversion{target-dtype=bfp_bf8},ttnn-kv-cache-dtype-conversion{target-dtype=bfp_bf8},ttnn-set-compute-kernel-config{math-fidelity=lofi},ttnn-decompose-layouts,ttnn-deallocate)' -o %t.module
// RUN: ttmlir-opt %s --ttcore-register-device --ttir-localize-presharded --ttnn-layout --convert-ttir-to-ttnn --ttnn-weight-dtype-conversion=target-dtype=bfp_bf8 --ttnn-kv-cache-dtype-conversion=target-dtype=bfp_bf8 --ttnn-set-compute-kernel-config=math-fidelity=lofi --ttnn-decompose-layouts --ttnn-deallocate --mlir-disable-threading -o %t.flags
// RUN: diff %t.functions %t.module
// RUN: diff %t.functions %t.flags
// RUN: FileCheck %s < %t.functions

// CHECK-DAG: #[[$BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> {{.*}}bfp_bf8>
// CHECK-DAG: #[[$CACHE:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> {{.*}}bfp_bf8>

// CHECK-LABEL: func.func @product
// CHECK: ttnn.get_device
// CHECK: %[[WEIGHT:.*]] = "ttnn.constant"{{.*}} -> tensor<32x32xbf16, #[[$BLOCKS]]>
// CHECK: "ttnn.matmul"(%{{.*}}, %[[WEIGHT]])
// CHECK-SAME: math_fidelity = lofi
// CHECK: "ttnn.deallocate"(%[[WEIGHT]])
func.func @product(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.constant"() <{value = dense<2.0> : tensor<32x32xbf16>}> : () -> tensor<32x32xbf16>
  %1 = "ttir.matmul"(%x, %0) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1 : tensor<32x32xbf16>
}

// CHECK-LABEL: func.func @cache
// CHECK-SAME: tensor<1x4x32x32xbf16, #[[$CACHE]]>
func.func @cache(%cache: tensor<1x4x32x32xbf16>, %x: tensor<1x4x8x32xbf16>) {
  // CHECK: "ttnn.fill_cache"
  "ttir.fill_cache"(%cache, %x) <{batch_offset = 0 : i32}> : (tensor<1x4x32x32xbf16>, tensor<1x4x8x32xbf16>) -> ()
  return
}

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: %[[ONE:.*]] = "ttnn.exp"
  %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK: %[[TWO:.*]] = "ttnn.cos"
  // CHECK: "ttnn.deallocate"(%[[ONE]])
  %1 = "ttir.cos"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
