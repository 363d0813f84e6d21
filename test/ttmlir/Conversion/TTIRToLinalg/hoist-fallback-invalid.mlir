// RUN: ttmlir-opt %s --cpu-hoist-fallback --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'math.absf' is no op of the chip, and the host does not take it: it has a tensor<?xf32>; expected tensors of static sizes}}
  %0 = math.absf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @buffers(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'memref.alloc' is no op of the chip, and the host does not take it: the host computes ops of the dialects arith, linalg, math, scf and tensor}}
  %0 = memref.alloc() : memref<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'foo.bar' is no op of the chip, and the host does not take it: it is of no dialect that is known}}
  %0 = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @complex(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensor.empty' is no op of the chip, and the host does not take it: the host has no type for tensor<4xcomplex<f32>>}}
  %0 = tensor.empty() : tensor<4xcomplex<f32>>
  return %x : tensor<4xf32>
}

// -----

func.func @scalar(%x: tensor<4xf32>, %y: f32) -> tensor<4xf32> {
  // expected-error @below {{'tensor.splat' on the host reads 'f32', and a program is given tensors}}
  %0 = tensor.splat %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'blocks' has ops for the host and 2 blocks; expected one}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %x : tensor<4xf32>
  cf.br ^next
^next:
  return %0 : tensor<4xf32>
}
