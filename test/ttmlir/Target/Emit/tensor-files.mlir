// RUN: rm -rf %t && ttmlir-translate %s --mlir-to-python --tensor-directory=%t/made/here
// RUN: flatc --json --strict-json --raw-binary --size-prefixed -I %root/include/ttmlir/Target/TTNN -o %t %root/include/ttmlir/Target/TTNN/tensor.fbs -- %t/made/here/a.tensorbin
// RUN: FileCheck %s < %t/a.json
// A link is followed: what it leads to is replaced, and keeps its permissions.
// RUN: mkdir %t/links && echo old > %t/target && chmod 600 %t/target && ln -s ../target %t/links/a.tensorbin
// RUN: ttmlir-translate %s --mlir-to-python --tensor-directory=%t/links
// RUN: test -L %t/links/a.tensorbin && cmp %t/target %t/made/here/a.tensorbin && stat -c %a %t/target | grep 600
// RUN: ls -A %t/links | FileCheck %s --check-prefix=LINK
// LINK: a.tensorbin
// LINK-NOT: {{.}}
// RUN: not ttmlir-translate %s --mlir-to-cpp --tensor-directory=/dev/null/no 2>&1 | FileCheck %s --check-prefix=FOLDER

// CHECK: "shape": [
// CHECK-NEXT: 2
// CHECK: "data_type": "UInt8"
// CHECK: "layout": "Tile"
// CHECK: "data": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 200
// FOLDER: error: cannot make the folder /dev/null/no for constants: Not a directory
module attributes {ttnn.tensor_files = {a.tensorbin = {dtype = #ttcore.supportedDataTypes<u8>, layout = #ttnn.layout<tile>, value = dense<[1, 200]> : tensor<2xi32>}}} {
}
