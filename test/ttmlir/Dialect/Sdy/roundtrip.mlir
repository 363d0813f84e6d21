// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | FileCheck %s

// CHECK: sdy.mesh @grid = <["x"=2, "y"=4, "z"=2]>
sdy.mesh @grid = <["x"=2, "y"=4, "z"=2]>
// CHECK: sdy.mesh @reordered = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @reordered = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
// CHECK: sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @maximal = <[], device_ids=[3]>
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>

// CHECK-LABEL: @shardings
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@grid, [{"y", ?}, {}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@grid, [{?}, {"z"}p1], replicated={"x"}>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@grid, [{"y":(2)2, "z"}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@grid, []>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<mesh<["p"=4]>, [{"p"}]>}
// CHECK-SAME: -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}], replicated={"z"}, unreduced=max{"y"}>})
func.func @shardings(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {"y"}]>},
                     %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y", ?}, {}]>},
                     %c: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{?}, {"z"}p1], replicated={"x"}>},
                     %d: tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"y":(2)2, "z"}]>},
                     %e: tensor<f32> {sdy.sharding = #sdy.sharding<@grid, []>},
                     %f: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["p"=4]>, [{"p"}]>})
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}, {}], replicated={"z"}, unreduced=max{"y"}>}) {
  return %c : tensor<16x8xf32>
}

// CHECK-LABEL: @constraints
func.func @constraints(%x: tensor<12x20xbf16>) -> tensor<12x20xbf16> {
  // CHECK: stablehlo.add %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {?}]>]>} : tensor<12x20xbf16>
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}, {?}]>]>} : tensor<12x20xbf16>
  // CHECK: sdy.sharding_constraint %{{.*}} <@grid, [{"x", "y"}, {}]> : tensor<12x20xbf16>
  %1 = sdy.sharding_constraint %0 <@grid, [{"x", "y"}, {}]> : tensor<12x20xbf16>
  // CHECK: sdy.reshard %{{.*}} <@grid, [{}, {"y"}]> : tensor<12x20xbf16>
  %2 = sdy.reshard %1 <@grid, [{}, {"y"}]> : tensor<12x20xbf16>
  // CHECK: sdy.sharding_group %{{.*}} group_id=7 : tensor<12x20xbf16>
  sdy.sharding_group %2 group_id=7 : tensor<12x20xbf16>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD : tensor<12x20xbf16>
  %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<12x20xbf16>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@grid, [{"x"}, {}]> : tensor<12x20xbf16>
  %4 = sdy.data_flow_edge %3 sharding=<@grid, [{"x"}, {}]> : tensor<12x20xbf16>
  return %4 : tensor<12x20xbf16>
}

// CHECK-LABEL: @collectives
func.func @collectives(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: sdy.all_gather [{}, {"y"}] %{{.*}} out_sharding=<@grid, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{}, {"y"}] %a out_sharding=<@grid, [{"x"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_slice [{}, {"y"}] %{{.*}} out_sharding=<@grid, [{"x"}, {"y"}]> : tensor<16x8xf32>
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@grid, [{"x"}, {"y"}]> : tensor<16x8xf32>
  // CHECK: sdy.all_to_all [{"y"}: 1->0] %{{.*}} out_sharding=<@grid, [{"x", "y"}, {}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@grid, [{"x", "y"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.collective_permute %{{.*}} out_sharding=<@grid, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@grid, [{"y", "x"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_reduce {"z"} %{{.*}} out_sharding=<@grid, [{}, {}]> : tensor<16x8xf32>
  %4 = sdy.all_reduce {"z"} %3 out_sharding=<@grid, [{}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.reduce_scatter max [{"z"}, {}] %{{.*}} out_sharding=<@grid, [{"z"}, {}]> : tensor<16x8xf32>
  %5 = sdy.reduce_scatter max [{"z"}, {}] %4 out_sharding=<@grid, [{"z"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"x"} %{{.*}} out_sharding=<@grid, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %6 = sdy.replicated_to_unreduced {"x"} %5 out_sharding=<@grid, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  // CHECK: sdy.sharded_to_unreduced [{"x"}, {}] %{{.*}} out_sharding=<@grid, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %7 = sdy.sharded_to_unreduced [{"x"}, {}] %6 out_sharding=<@grid, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return %7 : tensor<16x8xf32>
}

// CHECK-LABEL: @regions
func.func @regions(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: sdy.constant dense<2.000000e+00> : tensor<8x16xf32>
  %c = sdy.constant dense<2.0> : tensor<8x16xf32>
  // CHECK: sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@grid, [{"x"}, {"y"}]>, <@grid, [{?}, {}]>] out_shardings=[<@grid, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%[[A:.*]]: tensor<4x4xf32>, %{{.*}}: tensor<8x16xf32>) {
  %0 = sdy.manual_computation(%a, %c) in_shardings=[<@grid, [{"x"}, {"y"}]>, <@grid, [{?}, {}]>] out_shardings=[<@grid, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%p: tensor<4x4xf32>, %q: tensor<8x16xf32>) {
    // CHECK: sdy.return %[[A]] : tensor<4x4xf32>
    sdy.return %p : tensor<4x4xf32>
  // CHECK: } : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  } : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: sdy.named_computation<"scale">(%{{.*}}) out_shardings=[<@grid, [{"x"}, {}]>] (%{{.*}}: tensor<8x16xf32>) {
  %1 = sdy.named_computation<"scale">(%0) out_shardings=[<@grid, [{"x"}, {}]>] (%p: tensor<8x16xf32>) {
    sdy.return %p : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// CHECK-LABEL: @rule
func.func @rule(%a: tensor<6x10xf32>, %b: tensor<10x4xf32>) -> tensor<6x4xf32> {
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=6, j=4, k=10} reduction={k}, custom>}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=6, j=4, k=10} reduction={k}, custom>} : (tensor<6x10xf32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=6, j=4} need_replication={i} permutation={j} blocked_propagation={i, j}>}
  %1 = stablehlo.constant {rule = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z_1z])->([i]) {i=1, j=1, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=2, z_1=3}>} dense<0> : tensor<24xi32>
  %2 = stablehlo.not %1 {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=6, j=4} need_replication={i} permutation={j} blocked_propagation={i, j}>} : tensor<24xi32>
  // A dimension without elements has a factor of size 0.
  // CHECK: custom_call @empty
  // CHECK-SAME: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=2, j=0, k=3}, custom>
  %3 = stablehlo.constant dense<0.0> : tensor<2x0xf32>
  %4 = stablehlo.custom_call @empty(%3) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=2, j=0, k=3}, custom>} : (tensor<2x0xf32>) -> tensor<2x3xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: func @function_edges
func.func @function_edges(%a: tensor<12x20xbf16>) -> tensor<12x20xbf16> {
  // CHECK: %[[A:.*]] = sdy.func_data_flow_edge %arg0 : tensor<12x20xbf16>
  %0 = sdy.func_data_flow_edge %a : tensor<12x20xbf16>
  // CHECK: %[[C:.*]] = call @function_edges(%[[A]])
  %1 = call @function_edges(%0) : (tensor<12x20xbf16>) -> tensor<12x20xbf16>
  // CHECK: sdy.func_data_flow_edge %[[C]] : tensor<12x20xbf16>
  %2 = sdy.func_data_flow_edge %1 : tensor<12x20xbf16>
  return %2 : tensor<12x20xbf16>
}
