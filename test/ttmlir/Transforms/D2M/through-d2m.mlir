// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-through-d2m-pipeline="enable-elementwise-fusion=true" | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-through-d2m-pipeline="enable-elementwise-fusion=true" --ttnn-collaspe-d2m | FileCheck %s --check-prefix=INLINED
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-through-d2m-pipeline | FileCheck %s --check-prefix=SINGLE
// RUN: not ttmlir-opt %s --ttnn-through-d2m-pipeline 2>&1 | FileCheck %s --check-prefix=ABSENT

// ABSENT: error: module has no ttcore.device @default_device; run ttcore-register-device first

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// Where the kernels are.
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x2>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>>
// Rows of matrices that TTNN pads.
#n = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<3x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

module {
  // CHECK-LABEL: func.func private @body(
  // CHECK-SAME: %[[A:.*]]: tensor<64x64xbf16, #[[DRAM:.*]]>, %[[B:.*]]: tensor<64x64xbf16, #[[L1:.*]]>) -> tensor<64x64xbf16, #[[DRAM]]>
  // CHECK-NEXT: %[[DEVICE:.*]] = "ttnn.get_device"
  // CHECK-NEXT: %[[OUT:.*]] = "ttnn.empty"(%[[DEVICE]]) <{shape = #ttnn.shape<64x64>}> : (!ttnn.device) -> tensor<64x64xbf16, #[[DRAM]]>
  // CHECK-NEXT: "ttnn.generic"(%[[A]], %[[B]], %[[OUT]])
  // CHECK-SAME: #ttnn.source_read_kernel<source = "#include \22dataflow_api.h\22
  // CHECK-SAME: #ttnn.source_write_kernel<source =
  // CHECK-SAME: #ttnn.source_compute_kernel<source = {{.*}}exp_tile{{.*}}mul
  // CHECK-SAME: cbs = [<total_size = 2048, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<1>>
  // CHECK-NEXT: return %[[OUT]]

  // SINGLE-LABEL: func.func private @body(
  // SINGLE-COUNT-2: "ttnn.generic"
  // SINGLE-NOT: "ttnn.generic"
  // SINGLE: return
  func.func private @body(%a: tensor<64x64xbf16, #d>, %b: tensor<64x64xbf16, #s>) -> tensor<64x64xbf16, #d> {
    %0 = "ttnn.exp"(%a) : (tensor<64x64xbf16, #d>) -> tensor<64x64xbf16, #d>
    %1 = "ttnn.multiply"(%0, %b) : (tensor<64x64xbf16, #d>, tensor<64x64xbf16, #s>) -> tensor<64x64xbf16, #d>
    return %1 : tensor<64x64xbf16, #d>
  }
  // CHECK-LABEL: func.func private @matrices(
  // CHECK: %[[ROWS:.*]] = "ttnn.reshape"(%{{.*}}) <{shape = [21 : i32, 40 : i32]}> : (tensor<3x7x40xbf16, #{{.*}}>) -> tensor<21x40xbf16, #{{.*}}>
  // CHECK-NEXT: %[[OUT:.*]] = "ttnn.empty"
  // CHECK-NEXT: "ttnn.generic"(%[[ROWS]], %[[OUT]])
  // CHECK: "ttnn.reshape"(%[[OUT]]) <{shape = [3 : i32, 7 : i32, 40 : i32]}>
  func.func private @matrices(%a: tensor<3x7x40xbf16, #n>) -> tensor<3x7x40xbf16, #n> {
    %0 = "ttnn.exp"(%a) : (tensor<3x7x40xbf16, #n>) -> tensor<3x7x40xbf16, #n>
    return %0 : tensor<3x7x40xbf16, #n>
  }
  // The functions are gone, and what the calls would have written.
  // INLINED-NOT: private
  // INLINED-LABEL: func.func @main(
  // INLINED-COUNT-1: "ttnn.get_device"
  // INLINED-NOT: d2m_subgraph
  // INLINED: %[[FIRST:.*]] = "ttnn.empty"
  // INLINED-NEXT: "ttnn.generic"(%{{.*}}, %{{.*}}, %[[FIRST]])
  // INLINED: "ttnn.generic"
  // INLINED: %[[SECOND:.*]] = "ttnn.reshape"
  // INLINED-NEXT: return %[[FIRST]], %[[SECOND]]
  func.func @main(%a: tensor<64x64xbf16, #d>, %b: tensor<64x64xbf16, #s>, %c: tensor<3x7x40xbf16, #n>) -> (tensor<64x64xbf16, #d>, tensor<3x7x40xbf16, #n>) {
    %dev = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %o = "ttnn.empty"(%dev) <{shape = #ttnn.shape<64x64>}> : (!ttnn.device) -> tensor<64x64xbf16, #d>
    %0 = ttnn.d2m_subgraph @body ins(%a, %b : tensor<64x64xbf16, #d>, tensor<64x64xbf16, #s>) outs(%o : tensor<64x64xbf16, #d>) : tensor<64x64xbf16, #d>
    %p = "ttnn.empty"(%dev) <{shape = #ttnn.shape<3x7x40>}> : (!ttnn.device) -> tensor<3x7x40xbf16, #n>
    %1 = ttnn.d2m_subgraph @matrices ins(%c : tensor<3x7x40xbf16, #n>) outs(%p : tensor<3x7x40xbf16, #n>) : tensor<3x7x40xbf16, #n>
    return %0, %1 : tensor<64x64xbf16, #d>, tensor<3x7x40xbf16, #n>
  }
}
