// A program for a mesh says so, and distributes inputs that it takes in shards.
// RUN: ttmlir-opt %s --ttir-to-emitpy-pipeline=mesh-shape=1,2 | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt %s --ttir-to-emitc-pipeline=mesh-shape=1,2 | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-opt %s --ttir-to-emitpy-pipeline="mesh-shape=1,2 load-input-tensors-from-disk=true" | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=DISK

// PY: MESH_SHAPE = ttnn.MeshShape(1, 2)
// PY: def f(x, i, device):
// PY: def create_inputs_for_f(device):
// PY-NEXT:   x_whole = ttnn.rand([4, 8], device, dtype=ttnn.float32)
// PY-NEXT:   x_host = ttnn.from_device(x_whole)
// PY-NEXT:   x = ttnn.distribute_tensor(
// PY-NEXT:     x_host,
// PY:            ttnn.Placement(type=ttnn.PlacementType.REPLICATE), ttnn.Placement(type=ttnn.PlacementType.SHARD, dim=1)
// PY:        device,
// PY:        i_whole = ttnn.zeros([2, 8], dtype=ttnn.int32{{.*}})
// PY-NEXT:   i = ttnn.distribute_tensor(
// PY-NEXT:     i_whole,
// PY:      return [x, i]
// PY: device = ttnn.open_mesh_device(MESH_SHAPE)

// CPP: std::vector<ttnn::Tensor> create_inputs_for_f(ttnn::Device device) {
// CPP-NEXT: ttnn::Tensor x_whole = ttnn::rand(/*shape=*/{4, 8}, device
// CPP: TTNN_MESH(1, 2)
// CPP: TTNN_PROGRAM(f, create_inputs_for_f)

// DISK: x_whole = ttnn.load_tensor(Path(__file__).parent / "arg0.tensorbin")
// DISK-NEXT: x = ttnn.distribute_tensor(
// DISK: i_whole = ttnn.load_tensor(Path(__file__).parent / "arg1.tensorbin")

func.func @f(%x: tensor<4x8xf32> {ttir.name = "x"}, %i: tensor<2x8xi32> {ttir.name = "i"}) -> (tensor<4x8xf32>, tensor<2x8xi32>) {
  %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: -1, 1>, shard_shape = array<i64: 1, 2>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_type = #ttcore.shard_type<identity>}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = "ttir.exp"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 1>, shard_shape = array<i64: 1, 2>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_type = #ttcore.shard_type<devices>}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
  %3 = "ttir.mesh_shard"(%i) <{shard_dims = array<i64: -1, 1>, shard_shape = array<i64: 1, 2>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_type = #ttcore.shard_type<identity>}> : (tensor<2x8xi32>) -> tensor<2x4xi32>
  %4 = "ttir.neg"(%3) : (tensor<2x4xi32>) -> tensor<2x4xi32>
  %5 = "ttir.mesh_shard"(%4) <{shard_dims = array<i64: -1, 1>, shard_shape = array<i64: 1, 2>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_type = #ttcore.shard_type<devices>}> : (tensor<2x4xi32>) -> tensor<2x8xi32>
  return %2, %5 : tensor<4x8xf32>, tensor<2x8xi32>
}
