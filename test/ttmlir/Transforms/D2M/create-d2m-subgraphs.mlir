// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-create-d2m-subgraphs | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-create-d2m-subgraphs --ttnn-create-d2m-subgraphs | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#row = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#big = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<256x256x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#none = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<0x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x64xf32, #host>>

// A chain with a broadcast operand. The order of operands is that of their first use.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[A:.*]]: tensor<32x64xf32, #{{.*}}>, %[[R:.*]]: tensor<1x64xf32, #{{.*}}>)
// CHECK: %[[DEVICE:.*]] = "ttnn.get_device"
// CHECK: %[[OUT:.*]] = "ttnn.empty"(%[[DEVICE]]) <{shape = #ttnn.shape<32x64>}>
// CHECK-NEXT: %[[CALL:.*]] = ttnn.d2m_subgraph @d2m_subgraph_0
// CHECK-NEXT: ins(%[[A]], %[[R]] : tensor<32x64xf32, #{{.*}}>, tensor<1x64xf32, #{{.*}}>)
// CHECK-NEXT: outs(%[[OUT]] : tensor<32x64xf32, #{{.*}}>) : tensor<32x64xf32, #{{.*}}>
// CHECK-NEXT: return %[[CALL]]
func.func @chain(%a: tensor<32x64xf32, #d>, %r: tensor<1x64xf32, #row>) -> tensor<32x64xf32, #d> {
  %0 = "ttnn.add"(%a, %r) : (tensor<32x64xf32, #d>, tensor<1x64xf32, #row>) -> tensor<32x64xf32, #d>
  %1 = "ttnn.divide"(%0, %a) : (tensor<32x64xf32, #d>, tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  return %1 : tensor<32x64xf32, #d>
}

// What is freed inside of a group is no tensor; operands are freed behind the call.
// CHECK-LABEL: func.func @frees(
// CHECK-SAME: %[[A:.*]]: tensor
// CHECK: %[[X:.*]] = "ttnn.softmax"(%[[A]])
// CHECK-NEXT: %[[OUT:.*]] = "ttnn.empty"
// CHECK-NEXT: %[[CALL:.*]] = ttnn.d2m_subgraph @d2m_subgraph_1
// CHECK-NEXT: ins(%[[X]] :
// CHECK-NEXT: outs(%[[OUT]] :
// CHECK-NEXT: "ttnn.deallocate"(%[[X]])
// CHECK-NEXT: return %[[CALL]]
func.func @frees(%a: tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d> {
  %x = "ttnn.softmax"(%a) <{dimension = 1 : si32, numericStable = false}> : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %0 = "ttnn.exp"(%x) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  "ttnn.deallocate"(%x) <{force = false}> : (tensor<32x64xf32, #d>) -> ()
  %1 = "ttnn.tanh"(%0) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<32x64xf32, #d>) -> ()
  return %1 : tensor<32x64xf32, #d>
}

// A value that another op reads as well ends a group.
// CHECK-LABEL: func.func @shared(
// CHECK: ttnn.d2m_subgraph @d2m_subgraph_[[FIRST:[23]]]
// CHECK: "ttnn.softmax"
// CHECK: ttnn.d2m_subgraph @d2m_subgraph_{{[23]}}
func.func @shared(%a: tensor<32x64xf32, #d>) -> (tensor<32x64xf32, #d>, tensor<32x64xf32, #d>) {
  %0 = "ttnn.exp"(%a) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %1 = "ttnn.neg"(%0) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %2 = "ttnn.softmax"(%1) <{dimension = 1 : si32, numericStable = false}> : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %3 = "ttnn.sin"(%1) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %4 = "ttnn.cos"(%3) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  return %2, %4 : tensor<32x64xf32, #d>, tensor<32x64xf32, #d>
}

// No groups: one op; another data type; an op of the host; an op that is no row of the tile operations; no elements; an
// op with a number that tile operations lack.
// CHECK-LABEL: func.func @none(
// CHECK-NOT: d2m_subgraph
// CHECK: func.func @end(
func.func @none(%a: tensor<32x64xf32, #d>, %b: tensor<32x64xbf16, #b>, %n: tensor<0x64xf32, #none>, %h: tensor<32x64xf32, #h>) -> tensor<32x64xf32, #h> {
  %0 = "ttnn.typecast"(%b) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<32x64xbf16, #b>) -> tensor<32x64xf32, #d>
  %1 = "ttnn.exp"(%0) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %2 = "ttnn.cumsum"(%1) <{dim = 0 : si32}> : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %3 = "ttnn.exp"(%n) : (tensor<0x64xf32, #none>) -> tensor<0x64xf32, #none>
  %4 = "ttnn.neg"(%3) : (tensor<0x64xf32, #none>) -> tensor<0x64xf32, #none>
  %5 = "ttnn.leaky_relu"(%a) <{parameter = 1.0 : f32}> : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %6 = "ttnn.exp"(%5) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %7 = "ttnn.exp"(%h) : (tensor<32x64xf32, #h>) -> tensor<32x64xf32, #h>
  %8 = "ttnn.neg"(%7) : (tensor<32x64xf32, #h>) -> tensor<32x64xf32, #h>
  return %8 : tensor<32x64xf32, #h>
}
func.func @end() {
  return
}

// Larger than L1: kernels read and write DRAM.
// CHECK-LABEL: func.func @large(
// CHECK: ttnn.d2m_subgraph @d2m_subgraph_{{[0-9]+}}
// CHECK-NOT: "ttnn.neg"
// CHECK: return
func.func @large(%g: tensor<8192x8192xf32, #big>) -> tensor<8192x8192xf32, #big> {
  %0 = "ttnn.exp"(%g) : (tensor<8192x8192xf32, #big>) -> tensor<8192x8192xf32, #big>
  %1 = "ttnn.neg"(%0) : (tensor<8192x8192xf32, #big>) -> tensor<8192x8192xf32, #big>
  return %1 : tensor<8192x8192xf32, #big>
}

// A function of the user with the name of a group.
// CHECK-LABEL: func.func @d2m_subgraph_of_mine(
// CHECK: ttnn.d2m_subgraph @d2m_subgraph_{{[0-9]+}}
func.func @d2m_subgraph_of_mine(%a: tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d> {
  %0 = "ttnn.exp"(%a) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  %1 = "ttnn.tanh"(%0) : (tensor<32x64xf32, #d>) -> tensor<32x64xf32, #d>
  return %1 : tensor<32x64xf32, #d>
}

// The functions, with the ops in order.
// CHECK: func.func private @d2m_subgraph_0(%[[A:.*]]: tensor<32x64xf32, #{{.*}}>, %[[R:.*]]: tensor<1x64xf32, #{{.*}}>) -> tensor<32x64xf32, #{{.*}}>
// CHECK-NEXT: %[[SUM:.*]] = "ttnn.add"(%[[A]], %[[R]])
// CHECK-NEXT: %[[QUOTIENT:.*]] = "ttnn.divide"(%[[SUM]], %[[A]])
// CHECK-NEXT: return %[[QUOTIENT]]
// CHECK: func.func private @d2m_subgraph_1(
// CHECK-NEXT: "ttnn.exp"
// CHECK-NEXT: "ttnn.tanh"
// CHECK-NEXT: return
