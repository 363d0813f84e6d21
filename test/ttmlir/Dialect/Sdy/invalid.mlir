// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// expected-error@+2 {{failed to parse Sdy_Mesh parameter 'axes'}}
// expected-error@+1 {{mesh axis "x" has size 0; expected 1 or more}}
sdy.mesh @m = <["x"=0]>

// -----

// expected-error@+1 {{mesh has two axes "x"}}
sdy.mesh @m = <["x"=2, "x"=2]>

// -----

// expected-error@+1 {{mesh of 4 devices has 3 device_ids}}
sdy.mesh @m = <["x"=4], device_ids=[0, 1, 2]>

// -----

// expected-error@+1 {{mesh device_ids are not 0 to 3, each once}}
sdy.mesh @m = <["x"=4], device_ids=[0, 1, 2, 4]>

// -----

// expected-error@+1 {{mesh has 2^63 or more devices; expected 1 to 65536}}
sdy.mesh @m = <["x"=4294967296, "y"=4294967296]>

// -----

// expected-error@+1 {{mesh has 4294967296 devices; expected 1 to 65536}}
sdy.mesh @m = <["x"=2, "y"=2147483648]>

// -----

// Also where it is written in place.
// expected-error@+1 {{mesh has 65537 devices; expected 1 to 65536}}
func.func @mesh_in_place(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=65537]>, [{}]>}) {
  return
}

// -----

// expected-error@+1 {{'func.func' op argument 0: sdy.sharding refers to mesh @m, which does not exist}}
func.func @no_mesh(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {
  return
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error@+1 {{'func.func' op argument 0: sdy.sharding names axis "y", which mesh #sdy.mesh<["x"=2]> does not have}}
func.func @no_axis(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  return
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error@+1 {{'func.func' op result 0: sdy.sharding names axis "x", or a part of it, twice}}
func.func @axis_twice(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}], replicated={"x"}>}) {
  return %a : tensor<4xf32>
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @overlapping_parts(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{sharding names axis "x", or a part of it, twice}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)4}, {"x":(2)4}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @part_size(%a: tensor<4xf32>) {
  // expected-error@+1 {{sharding names part (2)3 of axis "x", whose size is 8; expected pre-size times size to divide it, and not the whole axis}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(2)3}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @rank(%a: tensor<4xf32>) {
  // expected-error@+1 {{'sdy.reshard' op sharding has 2 dimensions, but 'tensor<4xf32>' has 1}}
  %0 = sdy.reshard %a <@m, [{}, {}]> : tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @one_per_value(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.abs' op sdy.sharding has 2 shardings; expected one for each of 1 values}}
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, [{}]>]>} : tensor<4xf32>
  return
}

// -----

func.func @kind_of_attribute(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.abs' op sdy.sharding is 1 : i32; expected #sdy.sharding_per_value}}
  %0 = stablehlo.abs %a {sdy.sharding = 1 : i32} : tensor<4xf32>
  return
}

// -----

func.func @after_question_mark(%a: tensor<4xf32>) {
  // expected-error@+2 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings'}}
  // expected-error@+1 {{expected '}' after '?'}}
  %0 = sdy.reshard %a <@m, [{?, "x"}]> : tensor<4xf32>
  return
}

// -----

func.func @priority(%a: tensor<4xf32>) {
  // expected-error@+2 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings'}}
  // expected-error@+1 {{expected a priority such as p1}}
  %0 = sdy.reshard %a <@m, [{?}q1]> : tensor<4xf32>
  return
}

// -----

func.func @barrier(%a: tensor<4xf32>) {
  // expected-error@+1 {{allows both directions; a barrier must stop one}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @local_shape(%a: tensor<4xf32>) {
  // expected-error@+1 {{in_shardings 0: the region has 'tensor<4xf32>'; expected 'tensor<2xf32>', the part of 'tensor<4xf32>' on one device}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @indivisible(%a: tensor<5xf32>) {
  // expected-error@+1 {{in_shardings splits dimension 0 of 'tensor<5xf32>' along axis "x", and 2 does not divide 5}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    sdy.return %p : tensor<2xf32>
  } : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual_axis(%a: tensor<4xf32>) {
  // expected-error@+1 {{manual_axes names axis "y", which mesh #sdy.mesh<["x"=2]> does not have}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={"y"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @gathering_axes(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{gathering_axes has 1 dimensions; expected 2, as out_sharding has}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@m, [{}, {}]> : tensor<4x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @to_itself(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{params moves axes from dimension 1 to itself}}
  %0 = sdy.all_to_all [{"x"}: 1->1] %a out_sharding=<@m, [{}, {"x"}]> : tensor<4x4xf32>
  return
}

// -----

func.func @rule_arity(%a: tensor<4xf32>) {
  // expected-error@+1 {{sdy.sharding_rule maps 2 operands and 1 results; the op has 1 and 1}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=4}>} : tensor<4xf32>
  return
}

// -----

func.func @rule_factor(%a: tensor<4xf32>) {
  // expected-error@+1 {{op_sharding_rule: operand 0 names factor j, which has no size}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([j])->([i]) {i=4}>} : tensor<4xf32>
  return
}

// -----

func.func @rule_factor_twice(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{op_sharding_rule: operand 0 names factor i a second time; expected it once}}
  %0 = stablehlo.custom_call @mine(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, i]) {i=8}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @rule_factor_twice_in_a_dimension(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: result 0 names factor i a second time; expected it once}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([ii]) {i=8}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_unused_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: factor j has a size, but no tensor has it}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_below_zero(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: factor i has size -1; expected 0 or more}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=-1}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_zero_next_to_others(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: operand 0 has factor j of size 0 next to others in a dimension; expected it alone, or not at all}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([i]) {i=8, j=0}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_one_next_to_others(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: operand 0 has factor j of size 1 next to others in a dimension; expected it alone, or not at all}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([i]) {i=8, j=1}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_two_kinds(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{op_sharding_rule: permutation names factor i a second time; expected it once}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8} need_replication={i} permutation={i}>} : tensor<8x8xf32>
  return
}

// -----

func.func @rule_reduction_of_a_result(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: reduction names factor i, which a result has; expected factors of operands alone}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_blocked_twice(%a: tensor<8xf32>) {
  // expected-error@+1 {{op_sharding_rule: blocked_propagation names factor i a second time; expected it once}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} blocked_propagation={i, i}>} : tensor<8xf32>
  return
}

// -----

func.func @rule_order(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the size of factor i, found j}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {j=4}>} : tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=12]>
func.func @parts_without_a_common_split(%a: tensor<24x24xf32>) {
  // expected-error@+1 {{sharding names parts #sdy<axis_ref"x":(1)2> and #sdy<axis_ref"x":(3)4>, which no split of the axis has both}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)2}, {"x":(3)4}]> : tensor<24x24xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @parts_of_one_part(%a: tensor<8xf32>) {
  // expected-error@+1 {{one after the other; expected one part}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)2, "x":(2)2}]> : tensor<8xf32>
  return
}

// -----

func.func @rule_of_another_rank(%a: tensor<8xf32>) {
  // expected-error@+1 {{sdy.sharding_rule maps 2 dimensions of operand 0, which is 'tensor<8xf32>'}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

func.func @others(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{has an operand with other uses; expected them to use its result}}
  %0 = sdy.func_data_flow_edge %a : tensor<4xf32>
  return %0, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @sum(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  // expected-error@+1 {{has an operand that is neither an argument of a function nor a result of a call}}
  %1 = sdy.func_data_flow_edge %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{has an operand of type 'tensor<?xf32>'; expected a static shape}}
  %0 = sdy.func_data_flow_edge %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
