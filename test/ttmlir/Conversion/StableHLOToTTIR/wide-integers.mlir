// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --stablehlo-legalize-wide-integers --canonicalize | FileCheck %s

// Random bits become a number in (0, 1): 52 bits of a mantissa, of which f32 has the leading ones.
// CHECK-LABEL: func.func @unit
// CHECK-NOT: i64
// CHECK: %[[HEAD:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4xui32>) -> tensor<4xf32>
// CHECK: stablehlo.subtract %[[HEAD]], %{{.*}} : tensor<4xf32>
// CHECK: stablehlo.maximum
// CHECK: stablehlo.minimum
// CHECK-NOT: stablehlo.subtract {{.*}} : tensor<4xf64>
func.func @unit(%a: tensor<4xui32>, %b: tensor<4xui32>) -> tensor<4xf64> {
  %0 = stablehlo.convert %a : (tensor<4xui32>) -> tensor<4xui64>
  %1 = stablehlo.convert %b : (tensor<4xui32>) -> tensor<4xui64>
  %c = stablehlo.constant dense<32> : tensor<4xui64>
  %2 = stablehlo.shift_left %0, %c : tensor<4xui64>
  %3 = stablehlo.or %2, %1 : tensor<4xui64>
  %d = stablehlo.constant dense<12> : tensor<4xui64>
  %4 = stablehlo.shift_right_logical %3, %d : tensor<4xui64>
  %e = stablehlo.constant dense<4607182418800017408> : tensor<4xui64>
  %5 = stablehlo.or %4, %e : tensor<4xui64>
  %6 = stablehlo.bitcast_convert %5 : (tensor<4xui64>) -> tensor<4xf64>
  %f = stablehlo.constant dense<1.0> : tensor<4xf64>
  %7 = stablehlo.subtract %6, %f : tensor<4xf64>
  return %7 : tensor<4xf64>
}

// -----

// The constant would be an element of the result, so the chip's 32 bits must hold it: it is left, and refused later.
// CHECK-LABEL: func.func @reaches
// CHECK: stablehlo.constant dense<-9223372036854775808> : tensor<4xi64>
// CHECK: stablehlo.select {{.*}} : tensor<4xi1>, tensor<4xi64>
func.func @reaches(%x: tensor<4xi64>, %p: tensor<4xi1>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<-9223372036854775808> : tensor<4xi64>
  %s = stablehlo.select %p, %x, %c : tensor<4xi1>, tensor<4xi64>
  return %s : tensor<4xi64>
}

// -----

// What fits is computed as before.
// CHECK-LABEL: func.func @fits
// CHECK-NEXT: stablehlo.constant dense<7> : tensor<4xi64>
// CHECK-NEXT: stablehlo.add %{{.*}} : tensor<4xi64>
// CHECK-NEXT: return
func.func @fits(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<7> : tensor<4xi64>
  %s = stablehlo.add %x, %c : tensor<4xi64>
  return %s : tensor<4xi64>
}

// -----

// The callee is inlined, as the argument does not fit.
// CHECK-LABEL: func.func @caller
// CHECK-NOT: call @callee
// CHECK: return %{{.*}} : tensor<i1>
// CHECK-NOT: func.func private @callee
func.func @caller(%x: tensor<i64>) -> tensor<i1> {
  %c = stablehlo.constant dense<9223372036854775807> : tensor<i64>
  %m = call @callee(%c, %x) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %r = stablehlo.compare LT, %m, %x : (tensor<i64>, tensor<i64>) -> tensor<i1>
  return %r : tensor<i1>
}
func.func private @callee(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.minimum %a, %b : tensor<i64>
  return %0 : tensor<i64>
}

// -----

// So is the callee that takes an integer of 64 bits.
// CHECK-LABEL: func.func @quotient
// CHECK-NOT: call @half
// CHECK: return
func.func @quotient(%x: tensor<i64>) -> tensor<i1> {
  %c = stablehlo.constant dense<4294967296> : tensor<i64>
  %p = stablehlo.multiply %x, %c : tensor<i64>
  %h = call @half(%p) : (tensor<i64>) -> tensor<i64>
  %r = stablehlo.compare LT, %h, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>
  return %r : tensor<i1>
}
func.func private @half(%a: tensor<i64>) -> tensor<i64> {
  %t = stablehlo.constant dense<2> : tensor<i64>
  %0 = stablehlo.divide %a, %t : tensor<i64>
  return %0 : tensor<i64>
}

// -----

// A maximum in windows starts with the least number of 32 bits.
// CHECK-LABEL: func.func @windows
// CHECK: stablehlo.constant dense<-2147483648> : tensor<i64>
func.func @windows(%x: tensor<8xi64>) -> tensor<8xi64> {
  %c = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %m = stablehlo.maximum %a, %b : tensor<i64>
    stablehlo.return %m : tensor<i64>
  }) : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// -----

// The constant is in a callee, which another one calls, and stands first: words are known in all of them.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @upper
// CHECK-NOT: call @
// CHECK-NOT: stablehlo.add %{{.*}} : tensor<i64>
// CHECK: return
func.func private @twice(%a: tensor<i64>) -> tensor<i64> {
  %0 = call @scaled(%a) : (tensor<i64>) -> tensor<i64>
  %1 = stablehlo.add %0, %0 : tensor<i64>
  return %1 : tensor<i64>
}
func.func private @scaled(%a: tensor<i64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<i64>
  %0 = stablehlo.multiply %a, %c : tensor<i64>
  return %0 : tensor<i64>
}
func.func @upper(%x: tensor<i64>) -> tensor<i32> {
  %p = call @twice(%x) : (tensor<i64>) -> tensor<i64>
  %h = stablehlo.constant dense<32> : tensor<i64>
  %q = stablehlo.shift_right_arithmetic %p, %h : tensor<i64>
  %r = stablehlo.convert %q : (tensor<i64>) -> tensor<i32>
  return %r : tensor<i32>
}

// -----

// Functions that call each other stay; they are refused later.
// CHECK-LABEL: func.func private @even
// CHECK: call @odd
// CHECK-LABEL: func.func private @odd
// CHECK: call @even
func.func private @even(%a: tensor<i64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<i64>
  %s = stablehlo.add %a, %c : tensor<i64>
  %0 = call @odd(%s) : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}
func.func private @odd(%a: tensor<i64>) -> tensor<i64> {
  %0 = call @even(%a) : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// A reduction takes the lower word, and so does a result. They get it if that holds the numbers, here of at most 24
// bits; otherwise the constant stays, which is refused later.
// CHECK-LABEL: func.func @fits_after
// CHECK-NOT: dense<4294967296>
// CHECK: stablehlo.reduce
// CHECK-LABEL: func.func @exceeds
// CHECK: stablehlo.constant dense<4294967296> : tensor<4xi64>
// CHECK: stablehlo.multiply %{{.*}} : tensor<4xi64>
func.func @fits_after(%x: tensor<4xi64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %h = stablehlo.constant dense<40> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %p = stablehlo.multiply %x, %c : tensor<4xi64>
  %q = stablehlo.shift_right_logical %p, %h : tensor<4xi64>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}
func.func @exceeds(%x: tensor<4xi64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %p = stablehlo.multiply %x, %c : tensor<4xi64>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}
// CHECK-LABEL: func.func @exceeds_as_result
// CHECK: stablehlo.constant dense<4294967296> : tensor<4xi64>
// CHECK: stablehlo.multiply %{{.*}} : tensor<4xi64>
func.func @exceeds_as_result(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %p = stablehlo.multiply %x, %c : tensor<4xi64>
  return %p : tensor<4xi64>
}

// -----

// What is left by the division by an interval fits: the interval is at least 1 where the comparison selects it.
// CHECK-LABEL: func.func @left_by_interval
// CHECK-NOT: dense<4294967296>
// CHECK: return
// CHECK-LABEL: func.func @left_by_unknown
// CHECK: dense<4294967296>
func.func @left_by_interval(%low: tensor<i64>, %high: tensor<i64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<ui64>
  %one = stablehlo.constant dense<1> : tensor<ui64>
  %d = stablehlo.subtract %high, %low : tensor<i64>
  %u = stablehlo.convert %d : (tensor<i64>) -> tensor<ui64>
  %empty = stablehlo.compare LE, %high, %low, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %interval = stablehlo.select %empty, %one, %u : tensor<i1>, tensor<ui64>
  %left = stablehlo.remainder %c, %interval : tensor<ui64>
  %r = stablehlo.convert %left : (tensor<ui64>) -> tensor<i64>
  return %r : tensor<i64>
}
func.func @left_by_unknown(%low: tensor<i64>, %high: tensor<i64>) -> tensor<i64> {
  %c = stablehlo.constant dense<4294967296> : tensor<ui64>
  %one = stablehlo.constant dense<1> : tensor<ui64>
  %d = stablehlo.subtract %high, %low : tensor<i64>
  %u = stablehlo.convert %d : (tensor<i64>) -> tensor<ui64>
  %empty = stablehlo.compare GE, %high, %low, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %interval = stablehlo.select %empty, %one, %u : tensor<i1>, tensor<ui64>
  %left = stablehlo.remainder %c, %interval : tensor<ui64>
  %r = stablehlo.convert %left : (tensor<ui64>) -> tensor<i64>
  return %r : tensor<i64>
}

// -----

// A loop carries two words of an integer that may not fit, and one of its counter.
// CHECK-LABEL: func.func @loop
// CHECK: stablehlo.while({{.*}}) : tensor<i64>, tensor<4x2xui32>
// CHECK-NOT: tensor<4xui64>
// CHECK: return
func.func @loop(%x: tensor<4xui64>) -> tensor<4xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i64>, tensor<4xui64>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i64>
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %a = stablehlo.constant dense<6364136223846793005> : tensor<4xui64>
    %1 = stablehlo.add %i, %one : tensor<i64>
    %2 = stablehlo.multiply %s, %a : tensor<4xui64>
    stablehlo.return %1, %2 : tensor<i64>, tensor<4xui64>
  }
  %h = stablehlo.constant dense<33> : tensor<4xui64>
  %1 = stablehlo.shift_right_logical %0#1, %h : tensor<4xui64>
  %2 = stablehlo.convert %1 : (tensor<4xui64>) -> tensor<4xui32>
  return %2 : tensor<4xui32>
}

// -----

// So does a branch. Slices at an index move words, and take the lower word of the index.
// CHECK-LABEL: func.func @branch
// CHECK: "stablehlo.case"
// CHECK: -> tensor<4x2xui32>
// CHECK: stablehlo.dynamic_slice %{{.*}}, %arg2, sizes = [1] : (tensor<4xui32>, tensor<i64>) -> tensor<1xui32>
func.func @branch(%p: tensor<i32>, %x: tensor<4xi64>, %i: tensor<i64>) -> tensor<1xi1> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %0 = "stablehlo.case"(%p) ({
    %1 = stablehlo.multiply %x, %c : tensor<4xi64>
    stablehlo.return %1 : tensor<4xi64>
  }, {
    stablehlo.return %x : tensor<4xi64>
  }) : (tensor<i32>) -> tensor<4xi64>
  %2 = stablehlo.dynamic_slice %0, %i, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
  %d = stablehlo.constant dense<4294967297> : tensor<1xi64>
  %3 = stablehlo.compare LT, %2, %d, SIGNED : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  return %3 : tensor<1xi1>
}

// -----

// The upper word of a product is computed. What is returned has the lower word, as without the shift.
// CHECK-LABEL: func.func @upper_word
// CHECK-NOT: i64
// CHECK: return
// CHECK-LABEL: func.func @lower_word
// CHECK: stablehlo.shift_left %{{.*}} : tensor<4xi64>
func.func @upper_word(%x: tensor<4xui32>) -> tensor<4xui32> {
  %h = stablehlo.constant dense<32> : tensor<4xui64>
  %0 = stablehlo.convert %x : (tensor<4xui32>) -> tensor<4xui64>
  %1 = stablehlo.multiply %0, %0 : tensor<4xui64>
  %2 = stablehlo.shift_right_logical %1, %h : tensor<4xui64>
  %3 = stablehlo.convert %2 : (tensor<4xui64>) -> tensor<4xui32>
  return %3 : tensor<4xui32>
}
func.func @lower_word(%x: tensor<4xi64>) -> tensor<4xi64> {
  %h = stablehlo.constant dense<32> : tensor<4xi64>
  %0 = stablehlo.shift_left %x, %h : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// A remainder with the sign of the divisor is below it; with another sum it is not.
// CHECK-LABEL: func.func @floor_remainder
// CHECK-NOT: dense<2147483648> : tensor<4xi64>
// CHECK: return
// CHECK-LABEL: func.func @other_sum
// CHECK: dense<2147483648> : tensor<4xi64>
func.func @floor_remainder(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<2147483648> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<4xi64>
  %r = stablehlo.remainder %x, %c : tensor<4xi64>
  %n = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %a = stablehlo.compare LT, %r, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %b = stablehlo.compare LT, %c, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %d = stablehlo.compare NE, %a, %b, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %p = stablehlo.and %d, %n : tensor<4xi1>
  %s = stablehlo.add %r, %c : tensor<4xi64>
  %m = stablehlo.select %p, %s, %r : tensor<4xi1>, tensor<4xi64>
  return %m : tensor<4xi64>
}
func.func @other_sum(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<2147483648> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<4xi64>
  %r = stablehlo.remainder %x, %c : tensor<4xi64>
  %n = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %a = stablehlo.compare GT, %r, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %b = stablehlo.compare LT, %c, %zero, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %d = stablehlo.compare NE, %a, %b, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %p = stablehlo.and %d, %n : tensor<4xi1>
  %s = stablehlo.add %r, %c : tensor<4xi64>
  %m = stablehlo.select %p, %s, %r : tensor<4xi1>, tensor<4xi64>
  return %m : tensor<4xi64>
}

// -----

// Random bits read both words of their state, as it was joined or computed.
// CHECK-LABEL: func.func @states
// CHECK-NOT: stablehlo.shift_left
// CHECK: %[[A:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<2x2xui32>) -> tensor<2xui64>
// CHECK: stablehlo.rng_bit_generator %[[A]]
// CHECK: %[[B:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<2x2xui32>) -> tensor<2xui64>
// CHECK: stablehlo.rng_bit_generator %[[B]]
func.func @states(%w: tensor<2x2xui32>, %a: tensor<2xui32>, %b: tensor<2xui32>) -> (tensor<4xui32>, tensor<4xui32>) {
  %s = stablehlo.bitcast_convert %w : (tensor<2x2xui32>) -> tensor<2xui64>
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %c = stablehlo.constant dense<32> : tensor<2xui64>
  %low = stablehlo.convert %a : (tensor<2xui32>) -> tensor<2xui64>
  %wide = stablehlo.convert %b : (tensor<2xui32>) -> tensor<2xui64>
  %high = stablehlo.shift_left %wide, %c : tensor<2xui64>
  %t = stablehlo.or %low, %high : tensor<2xui64>
  %1:2 = stablehlo.rng_bit_generator %t, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %0#1, %1#1 : tensor<4xui32>, tensor<4xui32>
}

// -----

// The difference of any two integers may lose bits: it may be negative where the comparison selects it.
// CHECK-LABEL: func.func @guarded_overflow
// CHECK: dense<9223372036854775807>
func.func @guarded_overflow(%x: tensor<i64>) -> tensor<i64> {
  %a = stablehlo.constant dense<9223372036854775807> : tensor<i64>
  %b = stablehlo.constant dense<-20> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %m = stablehlo.minimum %b, %x : tensor<i64>
  %d = stablehlo.subtract %a, %m : tensor<i64>
  %p = stablehlo.compare GT, %a, %m, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = stablehlo.select %p, %d, %one : tensor<i1>, tensor<i64>
  return %r : tensor<i64>
}

// -----

// The indices of a gather stay whole where they are its operand as well. A barrier passes words.
// CHECK-LABEL: func.func @own_indices
// CHECK: "stablehlo.gather"(%{{.*}}, %arg0)
// CHECK: "stablehlo.gather"(%{{.*}}, %arg0)
// CHECK-LABEL: func.func @barrier
// CHECK: stablehlo.optimization_barrier %{{.*}} : tensor<4x2xui32>
func.func @own_indices(%x: tensor<4xi64>) -> tensor<4xi1> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %0 = "stablehlo.gather"(%x, %x) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = stablehlo.compare LT, %0, %c, SIGNED : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
func.func @barrier(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = stablehlo.constant dense<4294967296> : tensor<4xi64>
  %ten = stablehlo.constant dense<10> : tensor<4xi64>
  %0 = stablehlo.multiply %x, %c : tensor<4xi64>
  %1 = stablehlo.optimization_barrier %0 : tensor<4xi64>
  %2 = stablehlo.remainder %1, %ten : tensor<4xi64>
  return %2 : tensor<4xi64>
}
