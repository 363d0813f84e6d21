// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

!rows = memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
func.func @ports(%a: !rows) {
  // expected-error @+1 {{cb_ports has 2 entries for 1 cbs}}
  ttmetal.enqueue_program(%a) cbs(%a) {cb_ports = array<i64: 0, 1>, kernelConfigs = []} : (!rows) cbs(!rows)
  return
}

// -----

!rows = memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
func.func @port(%a: !rows) {
  // expected-error @+1 {{cb_ports has 32; expected 0 to 31}}
  ttmetal.enqueue_program(%a) cbs(%a) {cb_ports = array<i64: 32>, kernelConfigs = []} : (!rows) cbs(!rows)
  return
}

// -----

!rows = memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
func.func @config(%a: !rows) {
  // expected-error @+1 {{kernelConfigs[0] is 3 : i64; expected #ttmetal.noc_config or #ttmetal.compute_config}}
  ttmetal.enqueue_program(%a) cbs(%a) {cb_ports = array<i64: 0>, kernelConfigs = [3]} : (!rows) cbs(!rows)
  return
}

// -----

!rows = memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
#noc = #ttmetal.noc_config<@gone, <0x0, 1x1>, <ct_args = [<cb_port[0]>]>, noc0>
func.func @kernel(%a: !rows) {
  // expected-error @+1 {{kernel @gone is not in the module}}
  ttmetal.enqueue_program(%a) cbs(%a) {cb_ports = array<i64: 0>, kernelConfigs = [#noc]} : (!rows) cbs(!rows)
  return
}

// -----

!rows = memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
#noc = #ttmetal.noc_config<@gone, <0x0, 1x1>, <ct_args = [<cb_port[4]>]>, noc0>
func.func @argument(%a: !rows) {
  // expected-error @+1 {{kernelConfigs[0] has an argument #ttmetal.kernel_arg<cb_port[4]>; there are 1 cbs}}
  ttmetal.enqueue_program(%a) cbs(%a) {cb_ports = array<i64: 0>, kernelConfigs = [#noc]} : (!rows) cbs(!rows)
  return
}

// -----

// expected-error @+1 {{core range has no cores}}
#cores = #ttmetal.core_range<0x0, 0x1>
module attributes {test.cores = #cores} {}

// -----

func.func @host(%a: memref<32x32xf32>) {
  // expected-error @+1 {{must be memref with a #ttcore.shard layout in a memory of the device}}
  ttmetal.deallocate_buffer %a : memref<32x32xf32>
  return
}

// -----

// expected-error @+1 {{is of 4 dimensions, those of a grid and of a part; the buffer has 3}}
func.func @layout(%a: memref<1x32x32xf32, #ttcore.shard<128x4, 1>>)
