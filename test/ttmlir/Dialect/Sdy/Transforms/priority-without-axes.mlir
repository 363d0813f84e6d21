// RUN: ttmlir-opt %s --sdy-propagation-pipeline | FileCheck %s
// An open dimension with a priority and without axes is closed at last; nothing is left to order.
sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK: func.func @open(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>})
func.func @open(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {?}p1]>}) {
  return
}
