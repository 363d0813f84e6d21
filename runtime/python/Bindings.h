//===- Bindings.h - declarations shared by the bindings ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Arguments.h"
#include "tt/runtime/runtime.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace tt::python {

/// The data types that Python programs name: those of the device, and those that host tensors are converted from and
/// to.
enum class HostType : int {
  Float32 = 0,
  Float16 = 1,
  BFloat16 = 2,
  BFP_Float8 = 3,
  BFP_BFloat8 = 4,
  BFP_Float4 = 5,
  BFP_BFloat4 = 6,
  BFP_Float2 = 7,
  BFP_BFloat2 = 8,
  UInt32 = 9,
  UInt16 = 10,
  UInt8 = 11,
  Int32 = 12,
  Float64 = 13,
  Int64 = 14,
  UInt64 = 15,
  Int16 = 16,
  Int8 = 17,
  Bool = 18,
};
HostType hostType(DataType type);
/// The type of values of a host type in a tensor: their own, or the nearest that the device has.
DataType deviceType(HostType type);
/// Throws Error for a block format, which exists on the device only.
size_t hostBytes(HostType type);

/// A tensor of values in host memory with strides in elements: of type `requested`, by default of the nearest one that
/// the device has. Throws RangeError if an integer does not fit.
ttnn::Tensor fromHost(const void *data, Shape shape, const std::vector<int64_t> &stride, size_t itemsize, HostType type,
                      std::optional<DataType> requested = std::nullopt);
/// An array of a Python program; the memory is the array's.
struct HostArray {
  const void *data;
  Shape shape;
  std::vector<int64_t> stride; // in elements
  HostType type;
  bool contiguous;
  nb::object owner; // keeps the memory alive
  int64_t elements() const { return volume(shape); }
};
/// Returns the array of any object with DLPack or the buffer protocol. Throws TypeError for another object, Error for a
/// type without a counterpart.
HostArray hostArray(nb::handle object);
/// Writes the values of a tensor of one shard.
void toHostMemory(void *to, const ttnn::Tensor &from, std::optional<HostType> type);

void bindTypes(nb::module_ &module);
void bindDevice(nb::module_ &module);
/// Descriptions of machines; needs devices.
void bindSystem(nb::module_ &runtime, nb::module_ &binary);
/// `ttnnModule` receives the functions that the package ttnn needs.
void bindTensor(nb::module_ &module, nb::module_ &ttnnModule);
void bindHooks(nb::module_ &module);
/// Needs devices, tensors and programs.
void bindArrays(nb::module_ &module);
/// Meshes of other processes.
void bindPublished(nb::module_ &module);
void bindReports(nb::module_ &module);
void bindBinary(nb::module_ &module);
void bindArithmetic(nb::module_ &module);
void bindUtils(nb::module_ &module);
/// Needs devices and tensors.
void bindPrograms(nb::module_ &module);
/// Needs data types and those of ttnn.
void bindKernels(nb::module_ &module);

} // namespace tt::python
