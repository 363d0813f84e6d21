// RUN: ttmlir-opt %s --ttcore-register-device | FileCheck %s --check-prefix=DEFAULT
// RUN: ttmlir-opt %s --ttcore-register-device --ttcore-register-device | FileCheck %s --check-prefix=DEFAULT
// RUN: ttmlir-opt %s --ttcore-register-device="mock-system-desc-arch=blackhole mesh-shape=2,4 mesh-topology=ring,linear" | FileCheck %s --check-prefix=MESH
// RUN: not ttmlir-opt %s --ttcore-register-device="mesh-shape=2,2,2" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not ttmlir-opt %s --ttcore-register-device="mesh-shape=0,4" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not ttmlir-opt %s --ttcore-register-device="mesh-shape=1,2 mesh-topology=ring" 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not ttmlir-opt %s --ttcore-register-device="mesh-shape=1,2 mesh-topology=ring,star" 2>&1 | FileCheck %s --check-prefix=LINKS
// RUN: not ttmlir-opt %s --ttcore-register-device="system-desc-path=%t.none" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ttmlir-opt %s --ttcore-register-device="system-desc-path=%s" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not ttmlir-opt %s --ttcore-register-device --ttcore-register-device=mesh-shape=1,2 2>&1 | FileCheck %s --check-prefix=OTHER

// DEFAULT: #system_desc = #ttcore.system_desc<{{.*}}arch = <wormhole_b0>, grid = 8x8
// DEFAULT: module attributes {ttcore.system_desc = #system_desc}
// DEFAULT-COUNT-1: ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, {{.*}} meshShape = 1x1, chipIds = [0]>
// DEFAULT-NOT: ttcore.device

// MESH: arch = <blackhole>, grid = 10x13
// MESH: meshShape = 2x4, chipIds = [0, 1, 2, 3, 4, 5, 6, 7], meshTopology = [ring, linear]>

// RANK: error: mesh 2x2x2 has 3 dimensions; expected rows and columns
// EMPTY: error: mesh 0x4 is not one of 1 to 1024 chips
// TOPOLOGY: error: mesh-topology names 1 axes but the mesh 1x2 has 2
// LINKS: error: mesh-topology names 'star'; expected ring, linear or disabled
// FILE: error: system-desc-path: cannot open input file
// TEXT: does not hold a #ttcore.system_desc with at least one chip
// OTHER: error: mesh-shape is 1x2 but the module has a device @default_device of 1x1
module {
}
