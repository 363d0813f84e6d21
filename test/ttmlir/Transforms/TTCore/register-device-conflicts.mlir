// Options that say something else than what the module has are not ignored; the same again is nothing new.
// RUN: ttmlir-opt %s --ttcore-register-device="mesh-shape=1,2 mesh-topology=ring,linear mock-system-desc-arch=blackhole" -o %t.mlir
// RUN: ttmlir-opt %t.mlir --ttcore-register-device="mesh-shape=1,2 mesh-topology=ring,linear mock-system-desc-arch=blackhole" | FileCheck %s
// RUN: ttmlir-opt %t.mlir --ttcore-register-device | FileCheck %s
// RUN: not ttmlir-opt %t.mlir --ttcore-register-device=mesh-topology=linear,linear 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not ttmlir-opt %t.mlir --ttcore-register-device=mock-system-desc-arch=quasar 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not ttmlir-opt %t.mlir --ttcore-register-device=mesh-shape=2,1 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: echo '#ttcore.system_desc<[], [], [], [], [], []>' > %t.none
// RUN: not ttmlir-opt %t.mlir --ttcore-register-device=system-desc-path=%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ttmlir-opt %s --ttcore-register-device=mesh-shape=4611686018427387904,4 2>&1 | FileCheck %s --check-prefix=LARGE

// CHECK: ttcore.device @default_device
// TOPOLOGY: mesh-topology is linear,linear but the module has a device @default_device of ring,linear
// ARCH: mock-system-desc-arch is quasar but the module has a system of blackhole chips
// SHAPE: mesh-shape is 2x1 but the module has a device @default_device of 1x2
// FILE: does not hold a #ttcore.system_desc with at least one chip
// LARGE: mesh 4611686018427387904x4 is not one of 1 to 1024 chips
module {
}
