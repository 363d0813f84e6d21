// RUN: ttmlir-opt %s --ttnn-set-compute-kernel-config="math-fidelity=hifi2 fp32-dest-acc-en=true" | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-set-compute-kernel-config | FileCheck %s --check-prefix=NONE
// RUN: ttmlir-opt %s --ttnn-set-compute-kernel-config="math-approx-mode=false packer-l1-acc=true dst-full-sync-en=true" | FileCheck %s --check-prefix=OTHERS
// RUN: not ttmlir-opt %s --ttnn-set-compute-kernel-config=math-fidelity=hifi5 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: for the --math-fidelity option: 'hifi5' is not possible; expected lofi, hifi2, hifi3, hifi4 or undefined

#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>

// CHECK-LABEL: @f
// NONE-LABEL: @f
// OTHERS-LABEL: @f
func.func @f(%a: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
  // CHECK: "ttnn.matmul"{{.*}}<{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>,
  // NONE: "ttnn.matmul"(%{{.*}}) <{transpose_a
  // OTHERS: "ttnn.matmul"{{.*}}<math_approx_mode = false, packer_l1_acc = true, dst_full_sync_en = true>
  %0 = "ttnn.matmul"(%a, %a) : (tensor<32x32xf32, #l>, tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  // What an op has stays.
  // CHECK: "ttnn.softmax"{{.*}}<math_fidelity = lofi, fp32_dest_acc_en = true, packer_l1_acc = false>
  // NONE: "ttnn.softmax"{{.*}}<math_fidelity = lofi, packer_l1_acc = false>
  // OTHERS: "ttnn.softmax"{{.*}}<math_fidelity = lofi, math_approx_mode = false, packer_l1_acc = false, dst_full_sync_en = true>
  %1 = "ttnn.softmax"(%0) <{dimension = 1 : si32, compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi, packer_l1_acc = false>}> : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  // CHECK: "ttnn.exp"(%{{[0-9]+}}) :
  %2 = "ttnn.exp"(%1) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
  return %2 : tensor<32x32xf32, #l>
}
