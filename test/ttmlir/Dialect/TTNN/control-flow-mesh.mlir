// RUN: ttmlir-opt --ttnn-layout %s | FileCheck %s

// What a loop gives in parts it takes in parts, and its functions with it; what is given once is distributed.
// CHECK-LABEL: func.func @main
// CHECK: %[[ZERO:.*]] = "ttir.constant"() {{.*}} -> tensor<4x8xf32, #[[ONE:.*]]>
// CHECK: %[[PARTS:.*]] = "ttir.mesh_shard"(%[[ZERO]]) {{.*}}shard_type = #ttcore.shard_type<replicate>{{.*}} -> tensor<4x8xf32, #[[EACH:.*]]>
// CHECK: ttcore.while(@more, @turn, [%{{.*}}, %[[PARTS]], %{{.*}}]) : (tensor<si32, #{{.*}}>, tensor<4x8xf32, #[[EACH]]>, tensor<4x8xf32, #[[EACH]]>) -> (tensor<si32, #{{.*}}>, tensor<4x8xf32, #[[EACH]]>)
// CHECK: func.func private @more(%{{.*}}: tensor<si32, #{{.*}}>, %{{.*}}: tensor<4x8xf32, #[[EACH]]>
// CHECK: func.func private @turn(%{{.*}}: tensor<si32, #{{.*}}>, %{{.*}}: tensor<4x8xf32, #[[EACH]]>
// Chips that go different ways have different results.
// CHECK: func.func @ways
// CHECK: ttcore.case([@left, @right], %{{.*}}, []) : tensor<si32, #{{.*}}>, () -> tensor<4x8xf32, #[[EACH]]>
// CHECK: func.func private @left
// CHECK: "ttir.mesh_shard"
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @main(%x: tensor<4x8xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<4x8xf32> {
    %0 = "ttir.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<si32>
    %1 = "ttir.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
    %2:2 = ttcore.while(@more, @turn, [%0, %1, %x]) : (tensor<si32>, tensor<4x8xf32>, tensor<4x8xf32, #ttcore.tensor_mesh<"mesh">>) -> (tensor<si32>, tensor<4x8xf32>)
    return %2#1 : tensor<4x8xf32>
  }
  func.func private @more(%i: tensor<si32>, %s: tensor<4x8xf32>, %x: tensor<4x8xf32>) -> tensor<i1> {
    %0 = "ttir.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<si32>
    %1 = "ttir.lt"(%i, %0) : (tensor<si32>, tensor<si32>) -> tensor<i1>
    return %1 : tensor<i1>
  }
  func.func private @turn(%i: tensor<si32>, %s: tensor<4x8xf32>, %x: tensor<4x8xf32>) -> (tensor<si32>, tensor<4x8xf32>) {
    %0 = "ttir.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<si32>
    %1 = "ttir.add"(%i, %0) : (tensor<si32>, tensor<si32>) -> tensor<si32>
    %2 = "ttir.add"(%s, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1, %2 : tensor<si32>, tensor<4x8xf32>
  }
  func.func @ways(%way: tensor<si32, #ttcore.tensor_mesh<"mesh">>) -> tensor<4x8xf32> {
    %0 = ttcore.case([@left, @right], %way, []) : tensor<si32, #ttcore.tensor_mesh<"mesh">>, () -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @left() -> tensor<4x8xf32> {
    %0 = "ttir.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @right() -> tensor<4x8xf32> {
    %0 = "ttir.constant"() <{value = dense<1.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
