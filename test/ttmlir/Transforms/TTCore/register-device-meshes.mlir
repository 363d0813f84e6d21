// RUN: ttmlir-opt %s --ttcore-register-device | FileCheck %s

// The first of ttcore.meshes is the mesh; one number is a row of devices.
// CHECK: ttcore.device @default_device = {{.*}} meshShape = 1x4, chipIds = [0, 1, 2, 3]>
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 4>]>} {
}
