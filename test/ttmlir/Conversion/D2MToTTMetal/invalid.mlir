// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-d2m-to-ttmetal,func.func(convert-d2m-to-ttkernel,ttkernel-control-dst-section))'

func.func @address() {
  // expected-error @+1 {{has no attribute 'address'; run d2m-allocate first}}
  %0 = memref.alloc() : memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
  return
}

// -----

func.func @other(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttir.exp' is not lowered to a command}}
  %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
func.func @thread(%a: !t) {
  // expected-error @+1 {{has a thread without a kernel; run d2m-generic-regions-to-funcs first}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>]}
      ins() outs(%a : !t) {
  }
  return
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
func.func @buffer(%a: !t) {
  // expected-error @+1 {{cb_operands[1] is 3; expected an operand, 0 to 0}}
  d2m.generic {block_factors = [], cb_operands = array<i64: 0, 3>, grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>]}
      ins() outs(%a : !t) {
  }
  return
}

// -----

!t = !ttcore.tile<32x32, f32>
func.func private @registers(%a: !t) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{has an operand outside of the registers; run d2m-insert-dst-register-access-unscheduled first}}
  %0 = "d2m.tile_exp"(%a) : (!t) -> !t
  return
}

// -----

!t = !ttcore.tile<32x32, f32>
func.func private @missing(%a: !t) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{'d2m.tile_transpose' is not lowered to a kernel}}
  %0 = "d2m.tile_transpose"(%a) : (!t) -> !t
  return
}

// -----

func.func private @nothing_packed() attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{is in a block that packs no tile}}
  ttkernel.tile_regs_acquire() : () -> ()
  return
}

// -----

func.func private @block() attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{has blocks of 'memref<7x3xf32>'; expected whole tiles}}
  %0 = d2m.get_cb(0) : <memref<7x3xf32>>
  return
}

// -----

func.func private @registers() attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{expected a row of registers}}
  %0 = d2m.acquire_dst() : memref<2x2x!ttcore.tile<32x32, f32>, #ttcore.memory_space<dst>>
  return
}

// -----

!t = !ttcore.tile<32x32, si32>
func.func private @bounds(%a: !t) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error @+1 {{has the bound 2147483647, which the kernel's f32 does not hold exactly}}
  %0 = "d2m.tile_clamp_scalar"(%a) <{min = 0 : i32, max = 2147483647 : i32}> : (!t) -> !t
  return
}

// -----

func.func private @accessor() attributes {d2m.thread = #d2m.thread<datamovement>, tensor_accessors = array<i64: 0, 2>} {
  // expected-error @+1 {{has a TensorAccessor for 'memref<32xf32>'; expected a buffer of the device}}
  %0 = d2m.get_arg(0) : memref<32xf32>
  return
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<dram>>
func.func @accessors(%a: !t) {
  // expected-error @+1 {{kernelConfigs[0] has an argument #ttmetal.kernel_arg<tensor_accessor_args[7]>; there are 1 buffers}}
  d2m.generic {block_factors = [], cb_operands = array<i64>, grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], tensor_accessors = array<i64: 7>, threads = [#d2m.thread<datamovement, @moves>]}
      ins() outs(%a : !t) {
  }
  return
}
func.func private @moves() attributes {d2m.thread = #d2m.thread<datamovement>} {
  return
}
