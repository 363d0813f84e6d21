// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s -split-input-file -verify-diagnostics

func.func @no_arrow(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' is 'a b'; expected one '->' between the dimensions of the input and of the result}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @two_arrows(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' is 'a b -> b -> a'; expected one '->'}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> b -> a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @token(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 'b+'; expected a name, '1', '...' or a group in parentheses}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a b+"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @nested(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has '(' inside of parentheses}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> ((a b))"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @closed(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has ')' without '('}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a b)"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @open(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has '(' without ')'}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> (a b"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' names 3 dimensions, but the input has rank 2}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b c -> a b c"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @rank_of_ellipsis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' names 3 or more dimensions, but the input has rank 2}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a ... b c -> a ... b c"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @two_ellipses(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has '...' twice on its left}}
  %0 = "ttir.rearrange"(%x) <{pattern = "... a ... -> ... a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @one(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 1 for dimension 0, whose size is 2}}
  %0 = "ttir.rearrange"(%x) <{pattern = "1 b -> b"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @product(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has a product on its left, whose factors' sizes are not known}}
  %0 = "ttir.rearrange"(%x) <{pattern = "(a b) c -> a b c"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @left_twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 'a' twice on its left}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a a -> a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @right_twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 'a' twice on its right}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a b a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @only_right(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 'c' only on its right}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a b c"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @only_left(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has 'b' only on its left}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @ellipsis_only_left(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has '...' only on its left}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a ... -> a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @ellipsis_only_right(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op attribute 'pattern' has '...' only on its right}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> a b ..."}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @result(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.rearrange' op result is 'tensor<6xf32>'; expected shape 3x2}}
  %0 = "ttir.rearrange"(%x) <{pattern = "a b -> b a"}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}
