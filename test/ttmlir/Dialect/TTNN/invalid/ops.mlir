// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%a0: tensor<2x3xf32>, %a1: tensor<2x4xf32>) {
  // expected-error@+1 {{'ttnn.add' op operand shapes 2x3 and 2x4 do not broadcast: sizes 3 and 4 in dimension 1}}
  %0 = "ttnn.add"(%a0, %a1) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dtype(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  // expected-error@+1 {{invalid properties {dtype = f32} for op ttnn.add: Invalid attribute `dtype` in property conversion: f32}}
  %0 = "ttnn.add"(%a0, %a1) <{dtype = f32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @inner(%a0: tensor<4x64xf32>, %a1: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttnn.matmul' op inner dimensions 64 and 8 differ}}
  %0 = "ttnn.matmul"(%a0, %a1) : (tensor<4x64xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduced(%a0: tensor<4x64xf32>) {
  // expected-error@+1 {{'ttnn.sum' op attribute 'dim_arg' is 3; expected -2 to 1 for rank 2}}
  %0 = "ttnn.sum"(%a0) <{dim_arg = [3 : i32], keep_dim = true}> : (tensor<4x64xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @argmax_dim(%a0: tensor<4x64xf32>) {
  // expected-error@+1 {{'ttnn.argmax' op attribute 'dim' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttnn.argmax"(%a0) <{dim = 2 : si32}> : (tensor<4x64xf32>) -> tensor<4xui32>
  return
}

// -----

func.func @repeat(%a0: tensor<4x64xf32>) {
  // expected-error@+1 {{'ttnn.repeat' op attribute 'repeat_dims' has 1 numbers; expected one per dimension or more, 2}}
  %0 = "ttnn.repeat"(%a0) <{repeat_dims = #ttnn.shape<2>}> : (tensor<4x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @conv_input(%a0: tensor<1x1x63x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op operand 'input' has shape 1x1x63x4; expected 1x1x64x4 or 1x8x8x4 by the attributes}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x63x4xf32>, tensor<2x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_prepared_weight(%a0: tensor<1x1x64x4xf32>, %a1: tensor<1x1x2x36xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op operand 'weight' has shape 1x1x2x36; expected 2x4x3x3, or prepared 1x1x36x2}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<1x1x2x36xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_weight(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x3x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op operand 'weight' has shape 2x3x3x3; expected 2x4x3x3}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x3x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_result(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op result is 'tensor<1x6x6x2xf32>'; expected shape 1x1x36x2}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x4x3x3xf32>, !ttnn.device) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @conv_kernel(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op attribute 'kernel_size' is [3]; expected two numbers of 1 or more}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_padding(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op attribute 'padding' is [3, 1, 1]; expected two or four numbers of 0 or more}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 3, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_image(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op attributes give an input of shape 1x-8x8x4; sizes are 0 to 2147483647}}
  %0 = "ttnn.conv2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = -8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_device(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttnn.conv2d' op expected 3 or more operands, but found 2}}
  %0 = "ttnn.conv2d"(%a0, %a1) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @conv_output_padding(%a0: tensor<1x1x64x4xf32>, %a1: tensor<4x2x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op attribute 'output_padding' is [1]; expected two numbers of 0 or more}}
  %0 = "ttnn.conv_transpose2d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 2 : i32, output_padding = array<i32: 1>, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x4xf32>, tensor<4x2x3x3xf32>, !ttnn.device) -> tensor<1x1x36x2xf32>
  return
}

// -----

func.func @moved(%a0: tensor<2x3xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.to_device' op result is 'tensor<3x2xf32>'; expected shape 2x3}}
  %0 = "ttnn.to_device"(%a0, %a1) : (tensor<2x3xf32>, !ttnn.device) -> tensor<3x2xf32>
  return
}

// -----

func.func @filled(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.zeros' op result is 'tensor<3x2xf32>'; expected shape 2x3}}
  %0 = "ttnn.zeros"(%a0) <{shape = #ttnn.shape<2x3>}> : (!ttnn.device) -> tensor<3x2xf32>
  return
}

// -----

func.func @sequence(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.arange' op result is 'tensor<39xf32>'; expected shape 40}}
  %0 = "ttnn.arange"(%a0) <{end = 120 : si64, start = 0 : si64, step = 3 : si64}> : (!ttnn.device) -> tensor<39xf32>
  return
}

// -----

func.func @batch_norm(%a0: tensor<2x3x4x4xf32>, %a1: tensor<1x4x1x1xf32>) {
  // expected-error@+1 {{'ttnn.batch_norm_inference' op operand 'running_mean' has shape 1x4x1x1; expected 1x3x1x1}}
  %0 = "ttnn.batch_norm_inference"(%a0, %a1, %a1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x3x4x4xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<2x3x4x4xf32>
  return
}

// -----

func.func @norm(%a0: tensor<2x3xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{'ttnn.rms_norm' op operand 'weight' has shape 4; expected 3}}
  %0 = "ttnn.rms_norm"(%a0, %a1) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @norm_scalar(%a0: tensor<f32>) {
  // expected-error@+1 {{'ttnn.rms_norm' op operand 'input' is 'tensor<f32>'; expected rank 1 or more}}
  %0 = "ttnn.rms_norm"(%a0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @distributed(%a0: tensor<64x256xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distribute_tensor' op dimension 0 has sizes 64 whole and 32 per device; it is not distributed}}
  %0 = "ttnn.distribute_tensor"(%a0, %a1) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>}> : (tensor<64x256xf32>, !ttnn.device) -> tensor<32x64xf32>
  return
}

// -----

func.func @distributed_unevenly(%a0: tensor<64x256xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distribute_tensor' op dimension 1 has sizes 256 whole and 60 per device; expected a multiple}}
  %0 = "ttnn.distribute_tensor"(%a0, %a1) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>}> : (tensor<64x256xf32>, !ttnn.device) -> tensor<64x60xf32>
  return
}

// -----

func.func @distributed_dim(%a0: tensor<64x256xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distribute_tensor' op attribute 'mapper_config' names dimension 2; the tensor has rank 2}}
  %0 = "ttnn.distribute_tensor"(%a0, %a1) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 2 : i64>]>}> : (tensor<64x256xf32>, !ttnn.device) -> tensor<64x64xf32>
  return
}

// -----

func.func @distributed_rank(%a0: tensor<64x256xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distribute_tensor' op has input and result of ranks 2 and 1; expected the same}}
  %0 = "ttnn.distribute_tensor"(%a0, %a1) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>}> : (tensor<64x256xf32>, !ttnn.device) -> tensor<64xf32>
  return
}

// -----

func.func @aggregated(%a0: tensor<64x60xf32>, %a1: !ttnn.device) {
  // expected-error@+1 {{'ttnn.aggregate_tensor' op dimension 1 has sizes 256 whole and 60 per device; expected a multiple}}
  %0 = "ttnn.aggregate_tensor"(%a0, %a1) <{composer_config = #ttnn.mesh_composer_config<dims = [1 : i32]>}> : (tensor<64x60xf32>, !ttnn.device) -> tensor<64x256xf32>
  return
}

// -----

func.func @gathered(%a0: tensor<64x32xf32>) {
  // expected-error@+1 {{'ttnn.all_gather' op dimension 1 has sizes 32 and 50; expected a multiple, one part per chip}}
  %0 = "ttnn.all_gather"(%a0) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<64x32xf32>) -> tensor<64x50xf32>
  return
}

// -----

func.func @device_shape() {
  // expected-error@+1 {{'ttnn.get_device' op attribute 'mesh_shape' is #ttnn<mesh_shape 0x1>; expected sizes of 1 or more}}
  %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 0x1>}> : () -> !ttnn.device
  return
}

// -----

func.func @allocated() {
  // expected-error@+1 {{'ttnn.alloc' op attribute 'address' is -4; expected 0 or more}}
  %0 = "ttnn.alloc"() <{address = -4 : i64, buffer_type = #ttnn.buffer_type<dram>, size = 4 : i64}> : () -> tensor<1xf32>
  return
}

// -----

func.func @copied(%a0: tensor<2xf32>, %a1: tensor<3xf32>) {
  // expected-error@+1 {{'ttnn.copy' op cannot write a tensor of shape 2 to one of 3; the shapes differ}}
  "ttnn.copy"(%a0, %a1) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @loaded(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.load_tensor' op attribute 'file_path' is "arg0.bin"; expected a name that ends in .tensorbin}}
  %0 = "ttnn.load_tensor"(%a0) <{file_path = "arg0.bin"}> : (!ttnn.device) -> tensor<2xf32>
  return
}

// -----

func.func @subgraph(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'ttnn.d2m_subgraph' op calls @body, which is no function of this module}}
  %0 = ttnn.d2m_subgraph @body
    ins(%a : tensor<2xf32>)
    outs(%b : tensor<3xf32>) : tensor<3xf32>
  return
}

// -----

func.func private @body(tensor<4xf32>) -> tensor<3xf32>
func.func @subgraph_operands(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'ttnn.d2m_subgraph' op passes 'tensor<2xf32>' to @body, which takes 'tensor<4xf32>'}}
  %0 = ttnn.d2m_subgraph @body
    ins(%a : tensor<2xf32>)
    outs(%b : tensor<3xf32>) : tensor<3xf32>
  return
}

// -----

func.func private @body(tensor<2xf32>) -> tensor<3xf32>
func.func @subgraph_results(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'ttnn.d2m_subgraph' op has results of types 'tensor<2xf32>'; expected those of the outputs, 'tensor<3xf32>'}}
  %0 = ttnn.d2m_subgraph @body
    ins(%a : tensor<2xf32>)
    outs(%b : tensor<3xf32>) : tensor<2xf32>
  return
}

// -----

func.func @roles(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'ttnn.tt_lang_op' op attribute 'arg_roles' has 2 roles for 1 inputs}}
  %0 = ttnn.tt_lang_op(%a) {arg_roles = "in,out", kernel_id = "k", version_tag = "1"} : (tensor<4xf32>) -> (tensor<4xf32>)
  return %0 : tensor<4xf32>
}

// -----

func.func @pairs(%a: tensor<8xf32>) {
  // expected-error@+1 {{'ttnn.collective_permute' op attribute 'source_target_pairs' is no list of pairs of chips}}
  %0 = "ttnn.collective_permute"(%a) <{source_target_pairs = array<i64: 0, 1, 2>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @targets(%a: tensor<8xf32>) {
  // expected-error@+1 {{'ttnn.collective_permute' op attribute 'source_target_pairs' has target 1 twice}}
  %0 = "ttnn.collective_permute"(%a) <{source_target_pairs = array<i64: 0, 1, 2, 1>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @groups(%a: tensor<8x2xf32>) {
  // expected-error@+1 {{'ttnn.all_to_all' op attribute 'replica_groups' is no list of groups of 4 chips, as 'split_count' says}}
  %0 = "ttnn.all_to_all"(%a) <{concat_dim = 1 : si32, replica_groups = array<i64: 0, 1>, split_count = 4 : si32, split_dim = 0 : si32}> : (tensor<8x2xf32>) -> tensor<2x8xf32>
  return
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @chips(%a: tensor<8x2xf32>) {
    // expected-error@+1 {{'ttnn.all_to_all' op attribute 'replica_groups' has chip 3; the mesh 1x2 has chips 0 to 1}}
    %0 = "ttnn.all_to_all"(%a) <{concat_dim = 1 : si32, replica_groups = array<i64: 0, 3>, split_count = 2 : si32, split_dim = 0 : si32}> : (tensor<8x2xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

func.func @no_parts(%a: tensor<1x1x16x32xbf16>, %b: tensor<8x32x3x3xbf16>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op attribute 'conv2d_config' has act_block_w_div = 0; expected a divisor of at least 1}}
  %0 = "ttnn.conv2d"(%a, %b, %d) <{batch_size = 1 : i32, conv2d_config = #ttnn.conv2d_config<act_block_w_div = 0>, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 32 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3>, out_channels = 8 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x16x32xbf16>, tensor<8x32x3x3xbf16>, !ttnn.device) -> tensor<1x1x16x8xbf16>
  return
}

// -----

func.func @parts_of_tiles(%a: tensor<1x1x16x32xbf16>, %b: tensor<8x32x3x3xbf16>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op attribute 'conv2d_config' has act_block_h_override = 40; expected a multiple of 32}}
  %0 = "ttnn.conv2d"(%a, %b, %d) <{batch_size = 1 : i32, conv2d_config = #ttnn.conv2d_config<act_block_h_override = 40>, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 32 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3>, out_channels = 8 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x16x32xbf16>, tensor<8x32x3x3xbf16>, !ttnn.device) -> tensor<1x1x16x8xbf16>
  return
}
