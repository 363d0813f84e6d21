//===- runtime.h - open a mesh, run a program --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The runtime as a C++ program uses it:
//
//   auto binary = tt::runtime::Binary::load("model.ttnn");
//   auto device = tt::runtime::openMeshDevice();
//   auto input = tt::runtime::createHostTensor(data, {1, 784}, tt::DataType::Float32);
//   auto outputs = tt::runtime::submit(device, binary, 0, {input});
//   auto result = tt::runtime::toHost(outputs[0]);
//
// Everything throws one of the errors of tt/types.h. Several threads may submit
// to one device; they run one after the other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/runtime/run.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

namespace tt::runtime {

//===- Devices ------------------------------------------------------------===//

/// sim::meshOptions("n300") opens a board or box by name.
Device openMeshDevice(const sim::MeshOptions &options = {});
void closeMeshDevice(const Device &device);
/// A rectangle of the chips of a mesh as a device, see sim::MeshDevice::createSubMesh.
Device createSubMeshDevice(const Device &parent, const sim::Rectangle &rectangle);
/// The open sub-meshes of a mesh that createSubMeshDevice made and that something still holds, in their order.
std::vector<Device> subMeshDevices(const Device &parent);
/// Closes a sub-mesh. Throws DeviceError for another device.
void releaseSubMeshDevice(const Device &subMesh);

//===- Tensors ------------------------------------------------------------===//

/// Copies row-major values in the storage type of `dtype`.
Tensor createHostTensor(const void *data, Shape shape, DataType dtype);
/// Copies values with strides in elements.
Tensor createHostTensor(const void *data, Shape shape, const std::vector<int64_t> &stride, DataType dtype);
/// Uses the caller's values, which must outlive the tensor.
Tensor createBorrowedHostTensor(void *data, Shape shape, DataType dtype);
/// Creates a tensor of one shard per device of a mesh; the shards are shared, not copied.
Tensor createMultiDeviceHostTensor(std::span<const Tensor> shards, std::vector<uint32_t> meshShape);
/// Creates an uninitialized tensor.
Tensor createEmptyTensor(const Device &device, TensorSpec spec);

/// Returns the properties and the place of an input that a program expects.
TensorSpec inputSpec(const Binary &binary, size_t program, size_t input);
/// To the memory, layout and data type of `spec` (its shape is not looked at), on `device` unless the spec is a host's.
/// Values are rounded to the data type.
Tensor toLayout(const Tensor &tensor, const Device &device, const TensorSpec &spec);
/// The shards as host tensors. With `untilize` the layout becomes row-major and block formats become bf16; the values
/// do not change.
std::vector<Tensor> toHost(const Tensor &tensor, bool untilize = true);
/// Writes a tensor to a file, or reads it, where `device` is given into its DRAM. What ttnn.dump_tensor and
/// ttnn.load_tensor exchange. Throws Error, or BinaryError for a file that is none.
void dumpTensor(const Tensor &tensor, const std::string &path);
Tensor loadTensor(const std::string &path, const Device &device = nullptr);
/// Copies the values of a tensor of one shard, converted to `dtype` when given.
void copyData(void *to, const Tensor &from, std::optional<DataType> dtype = std::nullopt);
/// Replaces the values of `to`; shapes must agree.
void copyData(const Tensor &to, const Tensor &from);

//===- Running ------------------------------------------------------------===//

/// The options of a run.
struct RunOptions {
  /// The limit of iterations of all loops of the run together, for programs with infinite loops. Exceeding it is an
  /// error.
  uint64_t maxLoopIterations = std::numeric_limits<uint64_t>::max();
};

/// Runs a program and returns its outputs, on the device where the program leaves them there. Inputs may be host
/// tensors or lie on the device; shape and data type must be the program's, placement is converted. A program that ran
/// before allocates nothing: the outputs, and the list of them, lie in what earlier outputs gave back.
Tensors submit(const Device &device, const Binary &binary, size_t program, std::span<const Tensor> inputs,
               const RunOptions &options = {});
inline Tensors submit(const Device &device, const Binary &binary, size_t program, std::initializer_list<Tensor> inputs,
                      const RunOptions &options = {}) {
  return submit(device, binary, program, std::span(inputs.begin(), inputs.size()), options);
}

/// Returns the report of the last run on a device by this process; nullptr before the first.
std::shared_ptr<const RunReport> lastRun(const Device &device);
/// Estimates a run of a program without running it. Throws OutOfMemoryError when it does not fit an empty device.
RunReport estimate(const Binary &binary, size_t program, const sim::MeshOptions &options);

//===- Hooks --------------------------------------------------------------===//

/// Sets the hooks of all runs that start from now on, in all threads. A run with hooks keeps every value until it is
/// deallocated, and is slower; without hooks there is no cost.
void setHooks(Hooks hooks);
void clearHooks();
bool hasHooks();

/// The results (or operands) of an op, absent operands left out.
std::vector<TensorRef> opOutputs(const OpContext &op);
std::vector<TensorRef> opInputs(const OpContext &op);

} // namespace tt::runtime
