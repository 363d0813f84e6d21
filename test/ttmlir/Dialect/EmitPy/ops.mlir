// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-translate --mlir-to-python %s | FileCheck %s --check-prefix=PYTHON --match-full-lines --strict-whitespace

!tensor = !emitpy.opaque<"ttnn.Tensor">

// CHECK: emitpy.import "pathlib" names ["Path"]
//      PYTHON:from pathlib import Path
// PYTHON-EMPTY:
// PYTHON-NEXT:import ttnn
// PYTHON-EMPTY:
// PYTHON-NEXT:HERE = Path(__file__).parent
emitpy.import "pathlib" names ["Path"]
emitpy.import "ttnn"
// CHECK: emitpy.global @HERE = <"Path(__file__).parent">
emitpy.global @HERE = <"Path(__file__).parent">

// Keywords and builtins get an underscore, equal wishes a number, everything that is no letter an underscore.
// PYTHON-EMPTY:
// PYTHON-EMPTY:
// PYTHON-NEXT:def helper(x):
// PYTHON-NEXT:    x.deallocate()
// PYTHON-NEXT:    return x
func.func @helper(%x: !tensor) -> !tensor attributes {ttnn.names = ["x"]} {
  emitpy.call_opaque ".deallocate"(%x) : (!tensor) -> ()
  return %x : !tensor
}

// PYTHON-EMPTY:
// PYTHON-EMPTY:
// PYTHON-NEXT:def program(arg0, lambda_):
// PYTHON-NEXT:    sum_ = ttnn.sum(arg0, dim=[1], keepdim=True, scale=0.5, name="a \"b\"", nothing=None, layout=ttnn.TILE_LAYOUT)
// PYTHON-NEXT:    layer_0_scores = ttnn.concat([arg0, sum_, lambda_])
// PYTHON-NEXT:    layer_0_scores_1 = helper(layer_0_scores)
// PYTHON-NEXT:    topk, topk_1 = ttnn.topk(layer_0_scores_1, float("-inf"))
// PYTHON-NEXT:    # as it is
// PYTHON-NEXT:    return topk, topk_1, [arg0, topk]
func.func @program(%a: !tensor, %b: !tensor) -> (!tensor, !tensor, !tensor) attributes {ttnn.names = ["", "lambda"]} {
  // CHECK: emitpy.call_opaque "ttnn.sum"(%arg0) {args = [0 : index, [1 : i32], true, 5.000000e-01 : f32, "a \22b\22", unit, #emitpy.opaque<"ttnn.TILE_LAYOUT">], keywords = ["", "dim", "keepdim", "scale", "name", "nothing", "layout"]}
  %0 = emitpy.call_opaque "ttnn.sum"(%a) {args = [0 : index, [1 : i32], true, 0.5 : f32, "a \"b\"", unit, #emitpy.opaque<"ttnn.TILE_LAYOUT">], keywords = ["", "dim", "keepdim", "scale", "name", "nothing", "layout"]} : (!tensor) -> !tensor
  %1 = emitpy.call_opaque "ttnn.concat"(%a, %0, %b) {args = [[0 : index, 1 : index, 2 : index]], ttnn.names = ["layer_0/scores"]} : (!tensor, !tensor, !tensor) -> !tensor
  %2 = func.call @helper(%1) {ttnn.names = ["layer_0/scores"]} : (!tensor) -> !tensor
  %3:2 = emitpy.call_opaque "ttnn.topk"(%2) {args = [0 : index, 0xFF800000 : f32]} : (!tensor) -> (!tensor, !tensor)
  emitpy.verbatim "# as it is"
  // CHECK: emitpy.list %arg0, %{{.*}}#0 : (!emitpy.opaque<"ttnn.Tensor">, !emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
  %4 = emitpy.list %a, %3#0 : (!tensor, !tensor) -> !tensor
  return %3#0, %3#1, %4 : !tensor, !tensor, !tensor
}

// A line that is too long is broken at its last brackets, one item to a line where the items do not fit on one.
// PYTHON-EMPTY:
// PYTHON-EMPTY:
// PYTHON-NEXT:def long(arg0):
// PYTHON-NEXT:    ones = ttnn.ones(
// PYTHON-NEXT:        arg0, first_parameter="aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", second_parameter="aaaaaaaaaaaaaaaaaaaa"
// PYTHON-NEXT:    )
// PYTHON-NEXT:    ones_1 = ttnn.ones(
// PYTHON-NEXT:        arg0,
// PYTHON-NEXT:        first_parameter="aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
// PYTHON-NEXT:        second_parameter=[ones, arg0],
// PYTHON-NEXT:    )
// PYTHON-NEXT:    return ones_1
func.func @long(%a: !tensor) -> !tensor {
  %0 = emitpy.call_opaque "ttnn.ones"(%a) {args = [0 : index, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa"], keywords = ["", "first_parameter", "second_parameter"]} : (!tensor) -> !tensor
  %1 = emitpy.call_opaque "ttnn.ones"(%a, %0) {args = [0 : index, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", [1 : index, 0 : index]], keywords = ["", "first_parameter", "second_parameter"]} : (!tensor, !tensor) -> !tensor
  return %1 : !tensor
}
