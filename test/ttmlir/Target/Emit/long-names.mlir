// RUN: ttmlir-opt --ttir-to-emitpy-pipeline %s | ttmlir-translate --mlir-to-python | FileCheck %s

// Names that leave no room for the call are put into brackets.
// CHECK-LABEL: def f(arg0):
// CHECK-NEXT:    (
// CHECK-NEXT:        a_name_so_long_that_two_of_them_leave_no_room_for_a_call_values,
// CHECK-NEXT:        a_name_so_long_that_two_of_them_leave_no_room_for_a_call_indices,
// CHECK-NEXT:    ) = ttnn.sort(arg0, descending=True, dtype=[ttnn.bfloat16, ttnn.int32])
func.func @f(%x: tensor<32x64xbf16>) -> (tensor<32x64xbf16>, tensor<32x64xi32>) {
  %0:2 = "ttir.sort"(%x) <{dim = -1 : si32, descending = true, stable = false}> : (tensor<32x64xbf16>) -> (tensor<32x64xbf16>, tensor<32x64xi32>) loc("a_name_so_long_that_two_of_them_leave_no_room_for_a_call")
  return %0#0, %0#1 : tensor<32x64xbf16>, tensor<32x64xi32>
}
