// RUN: ttmlir-opt %s --convert-stablehlo-to-ttir --split-input-file --verify-diagnostics

// Every op that is left is named.
func.func @all_of_them(%a: tensor<4xi32>, %i: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // expected-error@+1 {{stablehlo.count_leading_zeros: not converted to TTIR: there is no lowering for it}}
  %0 = stablehlo.count_leading_zeros %a : tensor<4xi32>
  // expected-error@+1 {{stablehlo.popcnt: not converted to TTIR: there is no lowering for it}}
  %1 = stablehlo.popcnt %i : tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{stablehlo.abs: not converted to TTIR: tensor<?xf32> has a dynamic shape}}
  %0 = stablehlo.abs %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @complex(%a: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.abs: not converted to TTIR: tensor<4xcomplex<f32>> holds complex numbers}}
  %0 = stablehlo.abs %a : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @total_order(%a: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error@+1 {{TTIR does not order NaN, nor -0 before 0, as TOTALORDER does}}
  %0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @pad_value(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<5xf32> {
  // expected-error@+1 {{stablehlo.pad: not converted to TTIR: the padding value is not a constant}}
  %0 = stablehlo.pad %a, %z, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @interior(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<7xf32> {
  // expected-error@+1 {{ttir.pad does not pad between elements}}
  %0 = stablehlo.pad %a, %z, low = [0], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

func.func @region(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{stablehlo.reduce: not converted to TTIR: its region is not a single op of the two arguments}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %m = stablehlo.multiply %b, %b : tensor<f32>
      %s = stablehlo.add %a, %m : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  return %0 : tensor<f32>
}

// -----

func.func @subtract(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{TTIR has no reduction by stablehlo.subtract}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %s = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  return %0 : tensor<f32>
}

// -----

func.func @convolution_strided_both(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32> {
  // expected-error@+1 {{stablehlo.convolution: not converted to TTIR: its input is dilated and its window has strides; expected one of the two}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  return %0 : tensor<1x6x4x4xf32>
}

// -----

func.func @convolution_padded_far(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x10x7xf32> {
  // expected-error@+1 {{stablehlo.convolution: not converted to TTIR: its input is dilated and padded by 3 where the window reaches 2; no more is lowered}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[3, 0], [0, 0]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x10x7xf32>
  return %0 : tensor<1x6x10x7xf32>
}

// -----

func.func @convolution_sequence_spread(%x: tensor<1x4x3xf32>, %w: tensor<6x4x3xf32>) -> tensor<1x6x3xf32> {
  // expected-error@+1 {{stablehlo.convolution: not converted to TTIR: its input is dilated over 1 dimension; transposed convolutions are lowered over 2 or 3}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3xf32>, tensor<6x4x3xf32>) -> tensor<1x6x3xf32>
  return %0 : tensor<1x6x3xf32>
}

// -----

// No number is cut to 32 bits.
func.func @wide_stride(%a: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error@+1 {{stablehlo.slice: not converted to TTIR: it has the number 4294967297 where TTIR's attribute has 32 bits}}
  %0 = stablehlo.slice %a [0:4:4294967297] : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// A mesh has rows and columns; 2^32 is not taken for 0.
func.func @cluster_axis(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error@+1 {{no custom call 'tenstorrent.distributed_rms_norm' is known with these operands and results and the attributes {cluster_axis = 4294967296 : i64}}}
  %0 = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%x) {tt.composite_attributes = {cluster_axis = 4294967296 : i64}} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @no_axis(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error@+1 {{no custom call 'tenstorrent.distributed_rms_norm' is known with these operands and results}}
  %0 = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// What a mesh lacks, the op says.
func.func @third_axis(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error@+1 {{cluster_axis}}
  %0 = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%x) {tt.composite_attributes = {cluster_axis = 2 : i32}} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @no_step(%p: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-error@+1 {{no custom call 'tenstorrent.adamw' is known with these operands and results and the attributes {lr = 1.000000e-03 : f32}}}
  %0:3 = stablehlo.custom_call @tenstorrent.adamw(%p, %p, %p, %p) {tt.composite_attributes = {lr = 1.0e-3 : f32}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @dropout(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // expected-error@+1 {{no custom call 'tenstorrent.sdpa_fw' is known with these operands and results and the attributes {dropout_probability = 1.000000e-01 : f32}}}
  %0 = stablehlo.custom_call @tenstorrent.sdpa_fw(%q, %q, %q) {tt.composite_attributes = {dropout_probability = 0.1 : f32}} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}

// -----

func.func @one_result(%x: tensor<2x1x3x8xbf16>, %w: tensor<2x1x3x2xi32>, %m: tensor<1x1x8x4xi32>) -> tensor<1x4x3x8xbf16> {
  // expected-error@+1 {{tt.all_to_all_dispatch: has 1 results; expected 2 tensors}}
  %0 = stablehlo.custom_call @tt.all_to_all_dispatch(%x, %w, %m) {mhlo.frontend_attributes = {num_devices = "2"}} : (tensor<2x1x3x8xbf16>, tensor<2x1x3x2xi32>, tensor<1x1x8x4xi32>) -> tensor<1x4x3x8xbf16>
  return %0 : tensor<1x4x3x8xbf16>
}

// -----

func.func @axis(%x: tensor<8x4x3x8xbf16>, %w: tensor<1x4x3x2xi32>, %m: tensor<1x1x8x1xi32>) -> tensor<2x4x3x8xbf16> {
  // expected-error@+1 {{tt.all_to_all_combine: expects a mapping in four dimensions, one or more devices, and cluster_axis 0 or 1}}
  %0 = stablehlo.custom_call @tt.all_to_all_combine(%x, %w, %m) {mhlo.frontend_attributes = {cluster_axis = "2"}} : (tensor<8x4x3x8xbf16>, tensor<1x4x3x2xi32>, tensor<1x1x8x1xi32>) -> tensor<2x4x3x8xbf16>
  return %0 : tensor<2x4x3x8xbf16>
}
