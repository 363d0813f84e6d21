// A machine described by the JSON that the runtime stores of it.
// RUN: split-file %s %t
// RUN: ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/two.ttsys mesh-shape=1,2" | FileCheck %t/module.mlir
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/none.ttsys" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/other.ttsys" 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/mixed.ttsys" 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/short.ttsys" 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/broken.ttsys" 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/prose.ttsys" 2>&1 | FileCheck %s --check-prefix=PROSE
// RUN: not ttmlir-opt %t/module.mlir --ttcore-register-device="system-desc-path=%t/other-attr.ttsys" 2>&1 | FileCheck %s --check-prefix=ATTR

// NONE: error: system-desc-path: '{{.*}}none.ttsys' has no chips
// ARCH: error: system-desc-path: '{{.*}}other.ttsys' has chips of 'quasar', which the compiler does not know
// MIXED: error: system-desc-path: '{{.*}}mixed.ttsys' has chips of wormhole_b0 and blackhole; expected chips of one architecture
// SHORT: error: system-desc-path: '{{.*}}short.ttsys' is not the description of a machine: missing value at system.chips[0].grid
// BROKEN: error: system-desc-path: '{{.*}}broken.ttsys' is not the description of a machine: [1:{{.*}}

// PROSE-NOT: no machine
// PROSE: error: system-desc-path: '{{.*}}prose.ttsys' does not hold a #ttcore.system_desc with at least one chip, nor the JSON of the runtime
// PROSE-NOT: no machine
// ATTR: error: system-desc-path: '{{.*}}other-attr.ttsys' does not hold a #ttcore.system_desc with at least one chip, nor the JSON of the runtime: unknown attribute

//--- module.mlir
// CHECK: [{arch = <wormhole_b0>, grid = 4x8, {{.*}}l1_size = 1000000, num_dram_channels = 6, {{.*}}, dram_grid = 1x6,
// CHECK-SAME: {arch = <wormhole_b0>, grid = 8x8, {{.*}}l1_size = 1499136, num_dram_channels = 12,
// CHECK: ttcore.device @default_device = <workerGrid = #ttcore.grid<4x8, {{.*}} meshShape = 1x2, chipIds = [0, 1]>
module {
}

//--- two.ttsys
{"mesh_shape": [1, 2], "chips": [
 {"arch": "wormhole_b0", "grid": [4, 8], "l1_size": 1000000, "num_dram_channels": 6, "dram_channel_size": 1073741824,
  "noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 32, "l1_unreserved_base": 1024,
  "dram_unreserved_base": 1024, "dram_unreserved_end": 1073741824},
 {"arch": "wormhole_b0", "grid": [8, 8], "l1_size": 1499136, "num_dram_channels": 12, "dram_channel_size": 1073741824,
  "noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 32, "l1_unreserved_base": 1024,
  "dram_unreserved_base": 1024, "dram_unreserved_end": 1073741824}]}
//--- none.ttsys
{"mesh_shape": [1, 1], "chips": []}
//--- other.ttsys
{"mesh_shape": [1, 1], "chips": [{"arch": "quasar", "grid": [4, 8], "l1_size": 1, "num_dram_channels": 6,
  "dram_channel_size": 1, "noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 32,
  "l1_unreserved_base": 1024, "dram_unreserved_base": 1024, "dram_unreserved_end": 1}]}
//--- mixed.ttsys
{"mesh_shape": [1, 2], "chips": [
 {"arch": "wormhole_b0", "grid": [8, 8], "l1_size": 1499136, "num_dram_channels": 12, "dram_channel_size": 1073741824,
  "noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 32, "l1_unreserved_base": 1024,
  "dram_unreserved_base": 1024, "dram_unreserved_end": 1073741824},
 {"arch": "blackhole", "grid": [8, 8], "l1_size": 1499136, "num_dram_channels": 12, "dram_channel_size": 1073741824,
  "noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 32, "l1_unreserved_base": 1024,
  "dram_unreserved_base": 1024, "dram_unreserved_end": 1073741824}]}
//--- short.ttsys
{"mesh_shape": [1, 1], "chips": [{"arch": "wormhole_b0"}]}
//--- prose.ttsys
This is no machine.
//--- other-attr.ttsys
#ttcore.nothing<3>
//--- broken.ttsys
{"mesh_shape": [1,
