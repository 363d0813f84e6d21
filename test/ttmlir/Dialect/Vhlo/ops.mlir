// Every op that StableHLO and VHLO both have is the same after a way through VHLO: as ops, as text, as a file of the
// newest version, and, but for what they cannot hold, of older ones.
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo --vhlo-legalize-to-stablehlo | diff - %t.mlir
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo | ttmlir-opt --vhlo-legalize-to-stablehlo | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact | ttmlir-opt | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=1.20.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff - %t.mlir
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo | not grep '"stablehlo\.\|func\.'

func.func @floats(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %abs = stablehlo.abs %a : tensor<4xf32>
  %cbrt = stablehlo.cbrt %a : tensor<4xf32>
  %ceil = stablehlo.ceil %a : tensor<4xf32>
  %cosine = stablehlo.cosine %a : tensor<4xf32>
  %exponential = stablehlo.exponential %a : tensor<4xf32>
  %exponential_minus_one = stablehlo.exponential_minus_one %a : tensor<4xf32>
  %floor = stablehlo.floor %a : tensor<4xf32>
  %log = stablehlo.log %a : tensor<4xf32>
  %log_plus_one = stablehlo.log_plus_one %a : tensor<4xf32>
  %logistic = stablehlo.logistic %a : tensor<4xf32>
  %negate = stablehlo.negate %a : tensor<4xf32>
  %round_nearest_afz = stablehlo.round_nearest_afz %a : tensor<4xf32>
  %round_nearest_even = stablehlo.round_nearest_even %a : tensor<4xf32>
  %rsqrt = stablehlo.rsqrt %a : tensor<4xf32>
  %sign = stablehlo.sign %a : tensor<4xf32>
  %sine = stablehlo.sine %a : tensor<4xf32>
  %sqrt = stablehlo.sqrt %a : tensor<4xf32>
  %tan = stablehlo.tan %a : tensor<4xf32>
  %tanh = stablehlo.tanh %a : tensor<4xf32>
  %add = stablehlo.add %a, %b : tensor<4xf32>
  %atan2 = stablehlo.atan2 %a, %b : tensor<4xf32>
  %divide = stablehlo.divide %a, %b : tensor<4xf32>
  %maximum = stablehlo.maximum %a, %b : tensor<4xf32>
  %minimum = stablehlo.minimum %a, %b : tensor<4xf32>
  %multiply = stablehlo.multiply %a, %b : tensor<4xf32>
  %power = stablehlo.power %a, %b : tensor<4xf32>
  %remainder = stablehlo.remainder %a, %b : tensor<4xf32>
  %subtract = stablehlo.subtract %a, %b : tensor<4xf32>
  %accurate = "stablehlo.sine"(%a) {result_accuracy = #stablehlo.result_accuracy<ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<4xf32>) -> tensor<4xf32>
  %highest = "stablehlo.tan"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  %finite = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>
  %clamp = stablehlo.clamp %a, %b, %a : tensor<4xf32>
  %select = stablehlo.select %finite, %a, %b : tensor<4xi1>, tensor<4xf32>
  %compare = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %plain = stablehlo.compare NE, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %convert = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %bits = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xi32>
  %format = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>
  %complex = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %real = stablehlo.real %complex : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %imag = stablehlo.imag %complex : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

func.func @integers(%a: tensor<4xi32>, %b: tensor<4xi32>, %u: tensor<4xui8>) {
  %and = stablehlo.and %a, %b : tensor<4xi32>
  %or = stablehlo.or %a, %b : tensor<4xi32>
  %xor = stablehlo.xor %a, %b : tensor<4xi32>
  %shift_left = stablehlo.shift_left %a, %b : tensor<4xi32>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi32>
  %shift_right_logical = stablehlo.shift_right_logical %a, %b : tensor<4xi32>
  %not = stablehlo.not %a : tensor<4xi32>
  %popcnt = stablehlo.popcnt %u : tensor<4xui8>
  %count = stablehlo.count_leading_zeros %a : tensor<4xi32>
  return
}

func.func @constants() {
  %0 = stablehlo.constant dense<[1.0, -2.5, 0x7FC00000, 0xFF800000]> : tensor<4xf32>
  %1 = stablehlo.constant dense<true> : tensor<3x5xi1>
  %2 = stablehlo.constant dense<false> : tensor<3x5xi1>
  %3 = stablehlo.constant dense<[true, false, true, true, false, false, false, true, true]> : tensor<9xi1>
  %4 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %5 = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  %6 = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
  %7 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %8 = stablehlo.constant dense<> : tensor<0x3xf32>
  %9 = stablehlo.constant dense<true> : tensor<i1>
  %10 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E4M3FN>
  %11 = stablehlo.constant dense<1.5> : tensor<7xbf16>
  %12 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  return
}

func.func @shapes(%a: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>, %n: tensor<3xi32>) {
  %0 = stablehlo.broadcast %s, sizes = [2, 3] : (tensor<f32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x5x6xf32>
  %2 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %3 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %4 = stablehlo.dynamic_update_slice %a, %3, %i, %i : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %5 = stablehlo.pad %a, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x12xf32>
  %6 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<24xf32>
  %7 = stablehlo.reverse %a, dims = [0, 1] : tensor<4x6xf32>
  %8 = stablehlo.slice %a [0:4:2, 1:6] : (tensor<4x6xf32>) -> tensor<2x5xf32>
  %9 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %10 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  %11 = "stablehlo.torch_index_select"(%a, %n) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}

func.func @dynamic(%a: tensor<4x6xf32>, %d: tensor<?x6xf32, #stablehlo.type_extensions<bounds = [9, ?]>>, %n: tensor<2xi64>, %s: tensor<f32>, %size: tensor<i32>, %indices: tensor<3x1xi64>, %x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x6xf32>, %p: tensor<2x2xi64>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0, 1] : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%a, %n) {broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = "stablehlo.dynamic_gather"(%a, %indices, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true} : (tensor<4x6xf32>, tensor<3x1xi64>, tensor<2xi64>) -> tensor<3x6xf32>
  %3 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  %4 = stablehlo.dynamic_pad %a, %s, %n, %n, %n : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %5 = stablehlo.dynamic_reshape %a, %n : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %6 = stablehlo.real_dynamic_slice %a, %n, %n, %n : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %7 = stablehlo.set_dimension_size %a, %size, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.type_extensions<bounds = [4, ?]>>
  %8 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 2, 1>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x6xf32>, tensor<2x2xi64>) -> tensor<1x?x?x6xf32>
  return
}

func.func @products(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<2x4x6xf32>, %d: tensor<2x6x5xf32>, %x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x6xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %1 = stablehlo.dot_general %c, %d, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<2x4x6xf32>, tensor<2x6x5xf32>) -> tensor<2x4x5xf32>
  %2 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 3, num_primitive_operations = 3, allow_imprecise_accumulation = true>} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %3 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->ik"} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %4 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->ji"} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %5 = "stablehlo.convolution"(%x, %w) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<1x6x6x6xf32>
  %6 = "stablehlo.convolution"(%x, %w) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 2, 1>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGH>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<1x3x15x6xf32>
  return
}

func.func @norms(%x: tensor<2x3x4xf32>, %f: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %f, %f, %f, %f) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  %1:3 = "stablehlo.batch_norm_training"(%x, %f, %f) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %2:3 = "stablehlo.batch_norm_grad"(%x, %f, %f, %f, %x) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

func.func @algebra(%a: tensor<4x4xf32>, %x: tensor<4xf32>) {
  %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %1 = stablehlo.cholesky %a : tensor<4x4xf32>
  %2 = "stablehlo.triangular_solve"(%a, %a) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  return
}

func.func @random(%a: tensor<f32>, %n: tensor<2xi64>, %state: tensor<2xui64>) {
  %0 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  %1, %2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  return
}

func.func @indexing(%a: tensor<4x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x6xf32>, %b: tensor<2x4xf32>, %bi: tensor<2x3x1xi64>) {
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>, indices_are_sorted = true} : (tensor<4x6xf32>, tensor<3x1xi64>) -> tensor<3x6xf32>
  %1 = "stablehlo.gather"(%b, %bi) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>} : (tensor<2x4xf32>, tensor<2x3x1xi64>) -> tensor<2x3xf32>
  %2 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true} : (tensor<4x6xf32>, tensor<3x1xi64>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @regions(%a: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>, %p: tensor<i1>, %source: tensor<2x3xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce_window"(%a, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %most = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %most : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x6xf32>
  %2 = "stablehlo.select_and_scatter"(%a, %source, %s) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %is = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %is : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = "stablehlo.map"(%a, %a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %product = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %product : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = "stablehlo.case"(%i) ({
    stablehlo.return %s : tensor<f32>
  }, {
    %twice = stablehlo.add %s, %s : tensor<f32>
    stablehlo.return %twice : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %6 = "stablehlo.if"(%p) ({
    stablehlo.return %s : tensor<f32>
  }, {
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %7 = stablehlo.while(%x = %6) : tensor<f32>
    cond {
      %less = stablehlo.compare LT, %x, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %more = stablehlo.add %x, %x : tensor<f32>
      stablehlo.return %more : tensor<f32>
    }
  %8 = stablehlo.optimization_barrier %0 : tensor<4xf32>
  return %8 : tensor<4xf32>
}

func.func private @part(%a: tensor<4xf32> {my.name = "a", my.list = [1 : i64, true, dense<2> : tensor<2xi8>]}) -> (tensor<4xf32> {my.type = tensor<4x?xf32>}) {
  return %a : tensor<4xf32>
}

func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @part(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 3 : i64, text = "t"}, decomposition = @part, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @target(%1) {backend_config = "config", has_side_effect = true, api_version = 2 : i32, called_computations = [@part], operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @typed(%2) {backend_config = {number = 1 : i32}, api_version = 4 : i32, mhlo.frontend_attributes = {a = "b"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

func.func @tuples(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0 = stablehlo.tuple %a, %t : tuple<tensor<4xf32>, !stablehlo.token>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  %2 = stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.after_all %t, %2 : !stablehlo.token
  %4:2 = "stablehlo.infeed"(%3) {infeed_config = "in", layout = [[0]]} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %5 = "stablehlo.outfeed"(%a, %3) {outfeed_config = "out"} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %6 = "stablehlo.send"(%a, %5) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %7:2 = "stablehlo.recv"(%6) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

func.func @collectives(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<4x6xf32>) -> tensor<4x12xf32>
  %1:2 = "stablehlo.all_reduce"(%a, %a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  %2 = "stablehlo.all_to_all"(%a) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<8x3xf32>
  %3 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %7 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = stablehlo.partition_id : tensor<ui32>
  %9 = stablehlo.replica_id : tensor<ui32>
  %10 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4x6xf32>):
    stablehlo.return %x : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>
  %11 = "stablehlo.async_done"(%10) : (!stablehlo.future<tensor<4x6xf32>>) -> tensor<4x6xf32>
  return
}

!q = !quant.uniform<i8:f32, 0.5:3>
!columns = !quant.uniform<u8<1:254>:f32:1, {0.5, 0.25:2, 1.5}>

func.func @quantized(%a: tensor<4x3xf32>) {
  %q = stablehlo.uniform_quantize %a : (tensor<4x3xf32>) -> tensor<4x3x!q>
  %c = stablehlo.uniform_quantize %q : (tensor<4x3x!q>) -> tensor<4x3x!columns>
  %0 = stablehlo.uniform_dequantize %c : (tensor<4x3x!columns>) -> tensor<4x3xf32>
  %1 = stablehlo.add %q, %q : tensor<4x3x!q>
  %2 = stablehlo.constant() {value = dense<3> : tensor<4x3xi8>} : () -> tensor<4x3x!q>
  return
}
