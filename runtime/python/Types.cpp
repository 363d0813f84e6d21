//===- Types.cpp - enums, and values between Python and tensors -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "tt/parallel.h"
#include "tt/range_error.h"
#include "tt/units.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace tt::python {
namespace {

enum class DeviceRuntime { Disabled = 0, TTNN = 1, TTMetal = 2 };
enum class HostRuntime { Local = 0, Distributed = 1 };
enum class DispatchCoreType { WORKER = 0, ETH = 1 };
enum class MemoryBufferType { DRAM = 0, L1 = 1, L1_SMALL = 2, TRACE = 3 };
enum class FabricConfig {
  DISABLED,
  FABRIC_1D,
  FABRIC_1D_RING,
  FABRIC_2D,
  FABRIC_2D_TORUS_X,
  FABRIC_2D_TORUS_Y,
  FABRIC_2D_TORUS_XY,
  CUSTOM
};

DeviceRuntime currentRuntime = DeviceRuntime::TTNN;
FabricConfig fabricConfig = FabricConfig::FABRIC_2D_TORUS_XY;

struct HostTypeRow {
  const char *name;
  HostType type;
  size_t bytes; // 0: not on the host
  DataType device;
};

constexpr std::array<HostTypeRow, 19> hostTypes = {{
    {"Float32", HostType::Float32, 4, DataType::Float32},
    {"Float16", HostType::Float16, 2, DataType::Float16},
    {"BFloat16", HostType::BFloat16, 2, DataType::BFloat16},
    {"BFP_Float8", HostType::BFP_Float8, 0, DataType::BFP_Float8},
    {"BFP_BFloat8", HostType::BFP_BFloat8, 0, DataType::BFP_BFloat8},
    {"BFP_Float4", HostType::BFP_Float4, 0, DataType::BFP_Float4},
    {"BFP_BFloat4", HostType::BFP_BFloat4, 0, DataType::BFP_BFloat4},
    {"BFP_Float2", HostType::BFP_Float2, 0, DataType::BFP_Float2},
    {"BFP_BFloat2", HostType::BFP_BFloat2, 0, DataType::BFP_BFloat2},
    {"UInt32", HostType::UInt32, 4, DataType::UInt32},
    {"UInt16", HostType::UInt16, 2, DataType::UInt16},
    {"UInt8", HostType::UInt8, 1, DataType::UInt8},
    {"Int32", HostType::Int32, 4, DataType::Int32},
    {"Float64", HostType::Float64, 8, DataType::Float32},
    {"Int64", HostType::Int64, 8, DataType::Int32},
    {"UInt64", HostType::UInt64, 8, DataType::UInt32},
    {"Int16", HostType::Int16, 2, DataType::Int32},
    {"Int8", HostType::Int8, 1, DataType::Int32},
    {"Bool", HostType::Bool, 1, DataType::Bool},
}};

const HostTypeRow &row(HostType type) { return hostTypes.at(static_cast<size_t>(type)); }

/// Copies n values, checking that integers keep theirs.
template <class From, class To> void convert(const void *source, void *target, int64_t n, const char *fromName) {
  const auto *from = static_cast<const From *>(source);
  auto *to = static_cast<To *>(target);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
      if (!std::in_range<To>(from[i]))
        throw RangeError("element " + std::to_string(i) + " is " + std::to_string(from[i]) + " of type " + fromName +
                         ", which does not fit; expected " + std::to_string(std::numeric_limits<To>::min()) + " to " +
                         std::to_string(std::numeric_limits<To>::max()));
    to[i] = static_cast<To>(from[i]);
  }
}

/// Converts integers that the device lacks to the type that the caller requests.
template <class From> void convertIntegers(const void *source, ttnn::Tensor &result, int64_t n, const char *fromName) {
  switch (result.dtype()) {
  case DataType::Float32:
    return convert<From, float>(source, result.data(), n, fromName);
  case DataType::UInt32:
    return convert<From, uint32_t>(source, result.data(), n, fromName);
  case DataType::UInt16:
    return convert<From, uint16_t>(source, result.data(), n, fromName);
  case DataType::UInt8:
    return convert<From, uint8_t>(source, result.data(), n, fromName);
  default:
    return convert<From, int32_t>(source, result.data(), n, fromName);
  }
}

/// The type to which integers of a host type that the device lacks are converted on the way to `requested`.
DataType integersAs(DataType own, DataType requested) {
  if (requested == DataType::Bool)
    return own;
  const bool isInteger = requested == DataType::Int32 || requested == DataType::UInt32 ||
                         requested == DataType::UInt16 || requested == DataType::UInt8;
  return isInteger ? requested : DataType::Float32;
}

} // namespace

HostType hostType(DataType type) { return type == DataType::Bool ? HostType::Bool : static_cast<HostType>(type); }

DataType deviceType(HostType type) { return row(type).device; }

size_t hostBytes(HostType type) {
  if (!row(type).bytes)
    throw Error(std::string(row(type).name) + " is a format of the device; host data is Float32 or BFloat16");
  return row(type).bytes;
}

ttnn::Tensor fromHost(const void *data, Shape shape, const std::vector<int64_t> &stride, size_t itemsize, HostType type,
                      std::optional<DataType> requested) {
  if (itemsize != hostBytes(type))
    throw Error("itemsize is " + std::to_string(itemsize) + ", but an element of " + row(type).name + " has " +
                std::to_string(hostBytes(type)) + " bytes");
  const DataType device = deviceType(type);
  if (storageBytes(device) == itemsize && type != HostType::Int64 && type != HostType::UInt64)
    if (hostType(device) == type) {
      ttnn::Tensor same = runtime::createHostTensor(data, std::move(shape), stride, device);
      return runtime::castTensor(same, requested.value_or(device));
    }
  // Gathered in the host's type first, as a device type with as many bytes.
  const int64_t n = volume(shape);
  ttnn::Tensor gathered;
  const void *values = data;
  if (itemsize == 8) {
    Shape halves = shape;
    halves.push_back(2);
    std::vector<int64_t> halfStride = stride;
    for (int64_t &step : halfStride)
      step *= 2;
    halfStride.push_back(1);
    gathered = runtime::createHostTensor(data, halves, halfStride, DataType::UInt32);
  } else {
    gathered = runtime::createHostTensor(data, shape, stride, itemsize == 2 ? DataType::UInt16 : DataType::UInt8);
  }
  values = gathered.data();
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.dtype = type == HostType::Float64 ? device : integersAs(device, requested.value_or(device));
  ttnn::Tensor result = ttnn::Tensor::onHost(spec);
  switch (type) {
  case HostType::Float64:
    convert<double, float>(values, result.data(), n, "Float64");
    break;
  case HostType::Int64:
    convertIntegers<int64_t>(values, result, n, "Int64");
    break;
  case HostType::UInt64:
    convertIntegers<uint64_t>(values, result, n, "UInt64");
    break;
  case HostType::Int16:
    convertIntegers<int16_t>(values, result, n, "Int16");
    break;
  case HostType::Int8:
    convertIntegers<int8_t>(values, result, n, "Int8");
    break;
  default:
    throw Error(std::string("no conversion from ") + row(type).name);
  }
  return runtime::castTensor(result, requested.value_or(device));
}

void toHostMemory(void *to, const ttnn::Tensor &from, std::optional<HostType> type) {
  if (!type) {
    runtime::copyData(to, from);
    return;
  }
  (void)hostBytes(*type);
  const DataType device = deviceType(*type);
  if (hostType(device) == *type) {
    runtime::copyData(to, from, device);
    return;
  }
  const ttnn::Tensor rounded = runtime::castTensor(from, device);
  std::vector<std::byte> values(rounded.bytes());
  runtime::copyData(values.data(), rounded);
  const int64_t n = volume(rounded.shape());
  switch (*type) {
  case HostType::Float64:
    convert<float, double>(values.data(), to, n, "Float32");
    break;
  case HostType::Int64:
    convert<int32_t, int64_t>(values.data(), to, n, "Int32");
    break;
  case HostType::UInt64:
    convert<uint32_t, uint64_t>(values.data(), to, n, "UInt32");
    break;
  case HostType::Int16:
    convert<int32_t, int16_t>(values.data(), to, n, "Int32");
    break;
  case HostType::Int8:
    convert<int32_t, int8_t>(values.data(), to, n, "Int32");
    break;
  default:
    throw Error(std::string("no conversion to ") + row(*type).name);
  }
}

void bindTypes(nb::module_ &module) {
  auto dataType = nb::enum_<HostType>(module, "DataType", "Element types of tensors.");
  for (const HostTypeRow &row : hostTypes)
    dataType.value(row.name, row.type);
  nb::enum_<DeviceRuntime>(module, "DeviceRuntime", "Kinds of programs: calls of the TTNN library, or kernels.")
      .value("Disabled", DeviceRuntime::Disabled)
      .value("TTNN", DeviceRuntime::TTNN)
      .value("TTMetal", DeviceRuntime::TTMetal);
  nb::enum_<HostRuntime>(module, "HostRuntime", "Where programs are submitted from; always this process.")
      .value("Local", HostRuntime::Local)
      .value("Distributed", HostRuntime::Distributed);
  nb::enum_<DispatchCoreType>(module, "DispatchCoreType", "Which cores dispatch; makes no difference here.")
      .value("WORKER", DispatchCoreType::WORKER)
      .value("ETH", DispatchCoreType::ETH);
  nb::enum_<MemoryBufferType>(module, "MemoryBufferType", "The memories of a device.")
      .value("DRAM", MemoryBufferType::DRAM)
      .value("L1", MemoryBufferType::L1)
      .value("L1_SMALL", MemoryBufferType::L1_SMALL)
      .value("TRACE", MemoryBufferType::TRACE);

  module.def("get_current_device_runtime", [] { return currentRuntime; });
  module.def("get_available_device_runtimes", [] { return std::vector{DeviceRuntime::TTNN, DeviceRuntime::TTMetal}; });
  module.def(
      "set_current_device_runtime", [](DeviceRuntime runtime) { currentRuntime = runtime; }, nb::arg("runtime"),
      "Kept for get_current_device_runtime: programs of both kinds are run, whatever it is.");
  module.def(
      "set_compatible_device_runtime",
      [](const runtime::Binary &binary) {
        currentRuntime = binary.identifier() == "TTNN" ? DeviceRuntime::TTNN : DeviceRuntime::TTMetal;
      },
      nb::arg("binary"), "The kind of programs that a binary has.");
  nb::enum_<FabricConfig>(module, "FabricConfig", "How chips of a mesh are connected.")
      .value("DISABLED", FabricConfig::DISABLED)
      .value("FABRIC_1D", FabricConfig::FABRIC_1D)
      .value("FABRIC_1D_RING", FabricConfig::FABRIC_1D_RING)
      .value("FABRIC_2D", FabricConfig::FABRIC_2D)
      .value("FABRIC_2D_TORUS_X", FabricConfig::FABRIC_2D_TORUS_X)
      .value("FABRIC_2D_TORUS_Y", FabricConfig::FABRIC_2D_TORUS_Y)
      .value("FABRIC_2D_TORUS_XY", FabricConfig::FABRIC_2D_TORUS_XY)
      .value("CUSTOM", FabricConfig::CUSTOM);
  module.def(
      "set_fabric_config", [](FabricConfig config) { fabricConfig = config; }, nb::arg("config"),
      "Kept for get_fabric_config: simulated chips are connected as a torus, whatever it is.");
  module.def("get_fabric_config", [] { return fabricConfig; });
  nb::enum_<Arch>(module, "Arch", "Architectures of chips.")
      .value("WORMHOLE_B0", Arch::WormholeB0)
      .value("BLACKHOLE", Arch::Blackhole)
      .value("QUASAR", Arch::Quasar);
  module.def("get_arch", [] { return sim::MeshOptions().arch; }, "That of a device which is opened without options.");
  module.def("get_current_host_runtime", [] { return HostRuntime::Local; });
  module.def("get_available_host_runtimes", [] { return std::vector{HostRuntime::Local}; });
  module.def(
      "set_current_host_runtime",
      [](HostRuntime runtime) {
        if (runtime != HostRuntime::Local)
          throw Error("the host runtime Distributed is not available; Local is");
      },
      nb::arg("runtime"));
  module.def(
      "set_threads", [](Int<int> count) { setThreads(count.in("count")); }, nb::arg("count"),
      "Threads that ops use; 0 for the default (all processors, or OMP_NUM_THREADS).");
  module.def("get_threads", &threads, "Threads that ops use.");
  module.def(
      "get_units", [] { return std::string(toString(units())); },
      "Vector and matrix units that kernels use: what this CPU has, and no more than TTRT_UNITS allows.");
  module.def(
      "get_available_units",
      [] {
        std::vector<std::string> names;
        for (auto unit = Units::AVX2; unit <= presentUnits(); unit = static_cast<Units>(static_cast<int>(unit) + 1))
          names.emplace_back(toString(unit));
        return names;
      },
      "Values of TTRT_UNITS that this CPU has, the least first.");
}

} // namespace tt::python
