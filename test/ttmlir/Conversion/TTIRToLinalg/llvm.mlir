// RUN: ttmlir-opt %s --convert-ttir-to-linalg --linalg-to-llvm-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --convert-ttir-to-linalg --linalg-to-llvm-pipeline=enable-optimization-passes=false | FileCheck %s

// CHECK: llvm.func @f(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.func @f_helper(%[[T:.*]]: !llvm.ptr)
// CHECK-NEXT: %[[P0:.*]] = llvm.getelementptr %[[T]][0]
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[P0]]
// CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %[[T]][1]
// CHECK-NEXT: %[[R:.*]] = llvm.load %[[P1]]
// CHECK-NEXT: llvm.call @f(%[[X]], %[[R]]) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT: llvm.return
func.func @f(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "ttir.exp"(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
