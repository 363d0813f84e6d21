//===- Tensor.cpp - tensors for Python ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnBindings.h"
#include "tt/sim/formats.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/unordered_map.h>

#include <algorithm>
#include <cstring>

namespace tt::python {
namespace {

using runtime::Device;
using ttnn::Tensor;

/// The result of get_tensor_desc().
struct TensorDesc {
  std::vector<int64_t> shape, stride;
  uint32_t itemSize;
  HostType dtype;
  int64_t physicalVolume;
};

/// The placement and layout of a tensor, without its shape.
struct Layout {
  TensorSpec spec;
};

std::vector<int64_t> strides(const Shape &shape) {
  std::vector<int64_t> result(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    result[i] = step;
    step *= shape[i];
  }
  return result;
}

/// Elements with the padding of the tile layout.
int64_t physicalVolume(const TensorSpec &spec) {
  return static_cast<int64_t>(sim::deviceBytes(spec)) /
         (spec.layout == tt::Layout::Tile ? static_cast<int64_t>(sim::tileBytes(spec.dtype)) : 1) *
         (spec.layout == tt::Layout::Tile ? sim::tileHeight * sim::tileWidth : 1) /
         (spec.layout == tt::Layout::Tile ? 1 : sim::elementBytes(spec.dtype));
}

TensorDesc describe(const Tensor &tensor) {
  return {tensor.shape(), strides(tensor.shape()), static_cast<uint32_t>(storageBytes(tensor.dtype())),
          hostType(tensor.dtype()), physicalVolume(tensor.spec())};
}

struct DLPackType {
  nb::dlpack::dtype_code code;
  uint8_t bits;
  HostType type;
};
constexpr DLPackType dlpackTypes[] = {
    {nb::dlpack::dtype_code::Float, 32, HostType::Float32},   {nb::dlpack::dtype_code::Float, 16, HostType::Float16},
    {nb::dlpack::dtype_code::Bfloat, 16, HostType::BFloat16}, {nb::dlpack::dtype_code::UInt, 32, HostType::UInt32},
    {nb::dlpack::dtype_code::UInt, 16, HostType::UInt16},     {nb::dlpack::dtype_code::UInt, 8, HostType::UInt8},
    {nb::dlpack::dtype_code::Int, 32, HostType::Int32},       {nb::dlpack::dtype_code::Float, 64, HostType::Float64},
    {nb::dlpack::dtype_code::Int, 64, HostType::Int64},       {nb::dlpack::dtype_code::UInt, 64, HostType::UInt64},
    {nb::dlpack::dtype_code::Int, 16, HostType::Int16},       {nb::dlpack::dtype_code::Int, 8, HostType::Int8},
    {nb::dlpack::dtype_code::Bool, 8, HostType::Bool},
};

/// The values as a DLPack capsule that shares them; also for a device tensor.
nb::object toArray(const Tensor &given) {
  const Tensor tensor = given.single("dlpack");
  const DataType dtype = sim::isBlockFormat(tensor.dtype()) ? DataType::BFloat16 : tensor.dtype();
  for (const DLPackType &row : dlpackTypes) {
    if (row.type != hostType(dtype))
      continue;
    const std::vector<size_t> shape(tensor.shape().begin(), tensor.shape().end());
    tensor.markUntracked();
    auto *owner = new std::shared_ptr<std::byte>(tensor.share());
    nb::capsule keep(owner, [](void *data) noexcept { delete static_cast<std::shared_ptr<std::byte> *>(data); });
    return nb::cast(nb::ndarray<>(owner->get(), shape.size(), shape.data(), keep, nullptr,
                                  nb::dlpack::dtype{static_cast<uint8_t>(row.code), row.bits, 1}));
  }
  throw Error("no array type for " + std::string(toString(dtype)));
}

nb::object bytesOf(const Tensor &given) {
  const Tensor tensor = given.single("get_data_buffer");
  const std::span<const std::byte> values(tensor.data(), tensor.bytes());
  if (tensor.spec().layout != tt::Layout::Tile)
    return nb::bytearray(values.data(), values.size());
  // Tile order is computed only when the caller reads the bytes.
  std::vector<std::byte> tiles(sim::deviceBytes(tensor.spec()));
  sim::encode(tensor.spec(), values, tiles);
  return nb::bytearray(tiles.data(), tiles.size());
}

/// Throws Error for one whose elements cannot be counted.
Shape shapeIn(const Ints<int64_t> &given) {
  Shape shape = given.in("shape", 0);
  (void)volume(shape);
  return shape;
}

void requireContiguous(const Shape &shape, const std::vector<int64_t> &stride, const char *what) {
  const auto expected = strides(shape);
  bool same = stride.size() == expected.size();
  for (size_t i = 0; same && i < stride.size(); ++i)
    same = shape[i] <= 1 || stride[i] == expected[i];
  if (!same)
    throw Error(std::string(what) + ": stride " + toString(stride) + " of shape " + toString(shape) +
                " is not that of contiguous data, " + toString(expected) + "; create an owned tensor instead");
}

using Strategy = std::unordered_map<std::string, std::string>;

Tensor distribute(std::vector<Tensor> shards, const Strategy &strategy, Ints<uint32_t> mesh) {
  const std::vector<uint32_t> meshShape = mesh.in("meshShape");
  uint64_t devices = 1;
  for (uint32_t dim : meshShape)
    devices = std::min<uint64_t>(devices, sim::maxChips) * dim;
  const auto how = strategy.find("strategy");
  // A replicated tensor may be passed once for all devices.
  if (how != strategy.end() && how->second == "replicate" && shards.size() == 1)
    shards.resize(std::min<uint64_t>(devices, sim::maxChips), shards[0]);
  return runtime::createMultiDeviceHostTensor(shards, meshShape);
}

Layout layoutOf(DataType dtype, BufferType buffer, tt::Layout layout) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.layout = layout;
  spec.memory.buffer = buffer;
  if (buffer != BufferType::SystemMemory)
    spec.memory.layout = MemoryLayout::Interleaved;
  return {spec};
}

Tensor owned(Address data, Ints<int64_t> shape, Ints<int64_t> stride, Int<uint32_t> itemsize, HostType type) {
  return fromHost(data.in("ptr"), shapeIn(shape), stride.in("stride"), itemsize.in("itemsize"), type);
}

Tensor borrowed(Address data, Ints<int64_t> shapeGiven, Ints<int64_t> stride, Int<uint32_t> itemsizeGiven,
                HostType type) {
  const Shape shape = shapeIn(shapeGiven);
  const uint32_t itemsize = itemsizeGiven.in("itemsize");
  requireContiguous(shape, stride.in("stride"), "create_borrowed_host_tensor");
  if (itemsize != hostBytes(type))
    throw Error("itemsize is " + std::to_string(itemsize) + ", but an element has " + std::to_string(hostBytes(type)) +
                " bytes");
  // Values that have to be converted cannot be borrowed.
  if (hostType(deviceType(type)) != type)
    return owned(data, shapeGiven, stride, itemsizeGiven, type);
  void *const values = data.in("ptr");
  if (!values && volume(shape) > 0)
    throw Error("a host tensor of shape " + toString(shape) + " was given no data");
  return runtime::createBorrowedHostTensor(values, shape, deviceType(type));
}

/// A tensor of the device that uses the values of a host tensor in place. It counts as their only owner, so ops that
/// write in place write this memory.
Tensor borrowedOnDevice(const Tensor &tensor, const Device &device, const Layout &layout) {
  constexpr const char *action = "create_borrowed_device_tensor";
  tensor.requireAllocated(action);
  TensorSpec spec = layout.spec;
  if (!device)
    throw DeviceError(std::string(action) + ": no device");
  if (tensor.isOnDevice() || tensor.shards() != 1)
    throw Error(std::string(action) + ": the tensor is on a device or has several shards; expected one on the host");
  if (spec.memory.buffer == BufferType::SystemMemory || spec.distributed)
    throw Error(std::string(action) + ": the layout is of the host or of a mesh; expected one of a device");
  if (spec.dtype != tensor.dtype())
    throw Error(std::string(action) + ": the layout has type " + std::string(toString(spec.dtype)) + ", the tensor " +
                std::string(toString(tensor.dtype())));
  spec.shape = tensor.shape();
  device->requireOpen(action);
  sim::Allocation allocation = device->allocate(sim::footprint(device->chip(), spec), "a borrowed tensor");
  Tensor::Shards shards(1, std::shared_ptr<std::byte>(tensor.data(), [](std::byte *) {}));
  Tensor result = Tensor::onDevice(std::move(spec), std::move(shards), device, std::move(allocation));
  result.markUntracked();
  result.setRetained(true);
  return result;
}

template <Tensor (*create)(Address, Ints<int64_t>, Ints<int64_t>, Int<uint32_t>, HostType)>
Tensor multiDevice(const std::vector<nb::object> &data, Ints<int64_t> shape, Ints<int64_t> stride,
                   Int<uint32_t> itemsize, HostType type, const Strategy &strategy, Ints<uint32_t> meshShape) {
  std::vector<Tensor> shards;
  for (const nb::object &pointer : data)
    shards.push_back(create({pointer}, shape, stride, itemsize, type));
  return distribute(std::move(shards), strategy, meshShape);
}

} // namespace

HostArray hostArray(nb::handle object) {
  using Array = nb::ndarray<nb::ro, nb::device::cpu>;
  Array array;
  if (!nb::try_cast(object, array))
    throw nb::type_error(("expected a torch tensor, numpy array or another object with DLPack or the buffer protocol "
                          "on the CPU, found " +
                          std::string(nb::str(object.type().attr("__name__")).c_str()))
                             .c_str());
  for (const DLPackType &row : dlpackTypes) {
    if (static_cast<uint8_t>(row.code) != array.dtype().code || row.bits != array.dtype().bits ||
        array.dtype().lanes != 1)
      continue;
    HostArray result{array.data(), Shape(array.ndim()), std::vector<int64_t>(array.ndim()), row.type, true, {}};
    int64_t step = 1;
    for (size_t i = array.ndim(); i-- > 0;) {
      result.shape[i] = static_cast<int64_t>(array.shape(i));
      result.stride[i] = array.stride(i);
      result.contiguous &= result.shape[i] == 1 || result.stride[i] == step;
      step *= result.shape[i];
    }
    result.owner = nb::cast(array, nb::rv_policy::none, nb::handle());
    return result;
  }
  throw Error("an array of DLPack type code " + std::to_string(array.dtype().code) + " with " +
              std::to_string(array.dtype().bits) + " bits cannot become a tensor");
}

void bindTensor(nb::module_ &module, nb::module_ &ttnnModule) {
  nb::class_<TensorDesc>(module, "TensorDesc", "Shape and type of a tensor.")
      .def_ro("shape", &TensorDesc::shape)
      .def_ro("stride", &TensorDesc::stride, "In elements.")
      .def_ro("item_size", &TensorDesc::itemSize, "Bytes.")
      .def_ro("dtype", &TensorDesc::dtype)
      .def_ro("physical_volume", &TensorDesc::physicalVolume, "Elements with the padding of tiles.");

  nb::class_<Layout>(module, "Layout", "Where and how a tensor lies: data type, tiles or rows, memory.")
      .def_prop_ro("dtype", [](const Layout &self) { return hostType(self.spec.dtype); })
      .def_prop_ro("layout", [](const Layout &self) { return toString(self.spec.layout); })
      .def_prop_ro("buffer_type", [](const Layout &self) { return toString(self.spec.memory.buffer); })
      .def_prop_ro("memory_layout", [](const Layout &self) { return toString(self.spec.memory.layout); })
      .def_prop_ro("grid", [](const Layout &self) { return self.spec.memory.grid; })
      .def_prop_ro("shard_shape", [](const Layout &self) { return self.spec.memory.shardShape; })
      .def("__repr__", [](const Layout &self) {
        return "<Layout " + std::string(toString(self.spec.dtype)) + " " + std::string(toString(self.spec.layout)) +
               " " + std::string(toString(self.spec.memory.buffer)) + " " +
               std::string(toString(self.spec.memory.layout)) + ">";
      });

  nb::class_<Tensor> tensor(module, "Tensor", "A tensor on the host or on a device.");
  tensor.def("is_allocated", &Tensor::isAllocated)
      .def("get_retain", &Tensor::retained)
      .def("set_retain", &Tensor::setRetained, nb::arg("retain"))
      .def("get_shape", [](const Tensor &self) { return self.shape(); })
      .def("get_stride", [](const Tensor &self) { return strides(self.shape()); })
      .def("get_volume", [](const Tensor &self) { return physicalVolume(self.spec()); })
      .def("get_logical_volume", [](const Tensor &self) { return volume(self.shape()); })
      .def("get_dtype", [](const Tensor &self) { return hostType(self.dtype()); })
      .def("get_element_size", [](const Tensor &self) { return storageBytes(self.dtype()); })
      .def("get_tensor_desc", &describe)
      .def("get_data_buffer", &bytesOf, nb::sig("def get_data_buffer(self) -> bytearray"),
           "The values, row-major; a tensor in tiles gives the bytes in the device's order.")
      .def(
          "has_layout",
          [](const Tensor &self, const Layout &layout) {
            const TensorSpec &spec = self.spec();
            return spec.dtype == layout.spec.dtype && spec.layout == layout.spec.layout &&
                   spec.memory == layout.spec.memory;
          },
          nb::arg("layout"))
      .def("get_layout", [](const Tensor &self) { return Layout{self.spec()}; })
      .def("get_global_id", &Tensor::id)
      .def("is_on_device", &Tensor::isOnDevice)
      .def("get_address", &Tensor::address, "In every bank it touches.")
      .def("get_num_shards", &Tensor::shards)
      .def(
          "__dlpack__", [](const Tensor &self, nb::kwargs) { return toArray(self); },
          "Shares the values: torch.from_dlpack(tensor), numpy.from_dlpack(tensor).")
      .def("__dlpack_device__", [](const Tensor &) { return nb::make_tuple(1, 0); });
  bindTtnnTensor(ttnnModule, tensor);
  module.def(
      "create_host_tensor",
      [](nb::handle array) {
        const HostArray values = hostArray(array);
        return fromHost(values.data, values.shape, values.stride, hostBytes(values.type), values.type);
      },
      nb::arg("array"), "Copies a torch tensor, numpy array or anything else with DLPack or the buffer protocol.");
  module.def("create_owned_host_tensor", &owned, nb::arg("ptr"), nb::arg("shape"), nb::arg("stride"),
             nb::arg("itemsize"), nb::arg("dataType"),
             "Copies values; the types that the device lacks become the nearest (int64 becomes int32).");
  module.def("create_borrowed_host_tensor", &borrowed, nb::arg("ptr"), nb::arg("shape"), nb::arg("stride"),
             nb::arg("itemsize"), nb::arg("dataType"), "Uses values that the caller keeps alive.");
  module.def("create_borrowed_device_tensor", &borrowedOnDevice, nb::arg("tensor"), nb::arg("device").none(),
             nb::arg("layout"),
             "A tensor of the device over the values of a host tensor, which the caller keeps alive: ops that write it "
             "in place write these.");
  module.def(
      "create_unsafe_borrowed_host_tensor", [](const Tensor &tensor) { return tensor.withSpec(tensor.spec()); },
      nb::arg("owned_host_tensor"));
  module.def(
      "create_empty_tensor",
      [](const Device &device, const Layout &layout, Ints<int64_t> shape, Ints<int64_t> stride,
         Int<uint32_t> itemsizeGiven) {
        TensorSpec spec = layout.spec;
        spec.shape = shapeIn(shape);
        requireContiguous(spec.shape, stride.in("stride"), "create_empty_tensor");
        const uint32_t itemsize = itemsizeGiven.in("itemsize");
        if (itemsize != storageBytes(spec.dtype))
          throw Error("create_empty_tensor: itemsize is " + std::to_string(itemsize) + ", but an element of " +
                      std::string(toString(spec.dtype)) + " has " + std::to_string(storageBytes(spec.dtype)) +
                      " bytes");
        return runtime::createEmptyTensor(device, std::move(spec));
      },
      nb::arg("device"), nb::arg("layout"), nb::arg("shape"), nb::arg("stride"), nb::arg("itemsize"));
  module.def("create_multi_device_host_tensor", &multiDevice<owned>, nb::arg("ptrs"), nb::arg("shape"),
             nb::arg("stride"), nb::arg("itemsize"), nb::arg("dataType"), nb::arg("strategy"), nb::arg("meshShape"),
             "One pointer per device of the mesh, or one for all with strategy {\"strategy\": \"replicate\"}.");
  module.def("create_multi_device_borrowed_host_tensor", &multiDevice<borrowed>, nb::arg("ptrs"), nb::arg("shape"),
             nb::arg("stride"), nb::arg("itemsize"), nb::arg("dataType"), nb::arg("strategy"), nb::arg("meshShape"));
  module.def("create_multi_device_host_tensor_from_shards", &distribute, nb::arg("tensorShards"), nb::arg("strategy"),
             nb::arg("meshShape"));

  module.def(
      "get_layout",
      [](const runtime::Binary &binary, IndexArgument program, IndexArgument input) {
        return Layout{runtime::inputSpec(binary, programIndex(program), input.in("input_index"))};
      },
      nb::arg("executable"), nb::arg("program_index"), nb::arg("input_index"), "How a program wants an input.");
  module.def(
      "to_layout",
      [](const Tensor &tensor, const Device &device, const Layout &layout, std::optional<bool> retain) {
        Tensor moved = runtime::toLayout(tensor, device, layout.spec);
        moved.setRetained(retain.value_or(tensor.retained()));
        return moved;
      },
      nb::arg("tensor"), nb::arg("device").none(), nb::arg("layout"), nb::arg("retain") = nb::none(),
      nb::call_guard<nb::gil_scoped_release>(), "A copy in another memory, layout and data type.");
  module.def(
      "to_host", [](const Tensor &tensor, bool untilize, bool) { return runtime::toHost(tensor, untilize); },
      nb::arg("tensor"), nb::arg("untilize") = false, nb::arg("blocking") = true,
      nb::call_guard<nb::gil_scoped_release>(),
      "The shards on the host; with untilize row-major, and block formats as bfloat16.");
  module.def(
      "get_device_tensors",
      [](const Tensor &given) {
        const Tensor tensor = given.gathered("get_device_tensors");
        const bool isWhole = tensor.isOnDevice() && tensor.shards() == 1; // one value stands for all chips
        std::vector<Tensor> shards;
        for (size_t i = 0; i < (isWhole ? tensor.device()->devices() : tensor.shards()); ++i)
          shards.push_back(tensor.shard(isWhole ? 0 : i));
        return shards;
      },
      nb::arg("tensor"), "Returns the values of each chip, or of each shard of a tensor on the host.");
  module.def("get_num_shards", [](const Tensor &tensor) { return tensor.shards(); }, nb::arg("tensor"));
  module.def(
      "deallocate_tensor",
      [](Tensor &tensor, bool force) {
        if (!tensor.retained() || force)
          tensor.deallocate();
      },
      nb::arg("tensor"), nb::arg("force") = false);
  module.def(
      "memcpy",
      [](Address dst, const Tensor &src, std::optional<HostType> type) { toHostMemory(dst.in("dst"), src, type); },
      nb::arg("dst"), nb::arg("src"), nb::arg("dstDataType") = nb::none(),
      "Writes the values to an address, converted to a type when one is given.");
  module.def(
      "memcpy", [](const Tensor &dst, const Tensor &src) { runtime::copyData(dst, src); }, nb::arg("dst"),
      nb::arg("src"), "Replaces the values of a tensor.");

  module.def(
      "create_scalar_tensor",
      [](nb::handle scalar) {
        const auto of = [](auto value, HostType type) { return fromHost(&value, {}, {}, sizeof(value), type); };
        if (PyBool_Check(scalar.ptr()))
          return of(scalar.ptr() == Py_True, HostType::Bool);
        if (PyFloat_Check(scalar.ptr()))
          return of(static_cast<float>(PyFloat_AS_DOUBLE(scalar.ptr())), HostType::Float32);
        int64_t integer = 0;
        if (!PyLong_Check(scalar.ptr()) || !nb::try_cast(scalar, integer))
          throw nb::type_error(("scalar is " + std::string(nb::repr(scalar).c_str()) +
                                "; expected a bool, an integer of 32 bits or a float")
                                   .c_str());
        return of(integer, HostType::Int64);
      },
      nb::arg("scalar"), nb::sig("def create_scalar_tensor(scalar: bool | int | float) -> Tensor"),
      "A tensor of rank 0 on the host: Bool, Int32 or Float32.");
  module.def("dump_tensor", &runtime::dumpTensor, nb::arg("tensor"), nb::arg("file_path"),
             nb::call_guard<nb::gil_scoped_release>(), "Writes a file that load_tensor and ttnn.load_tensor read.");
  module.def("load_tensor", &runtime::loadTensor, nb::arg("file_path"), nb::arg("device").none() = nb::none(),
             nb::call_guard<nb::gil_scoped_release>(), "A tensor of a file, on the host or in the DRAM of a device.");

  nb::module_ test = module.def_submodule("test", "What tests ask for.");
  test.def(
      "compare_outs",
      [](const std::vector<Tensor> &lhs, const std::vector<Tensor> &rhs) {
        const auto same = [](const Tensor &a, const Tensor &b) {
          if (a.shape() != b.shape() || a.spec().dtype != b.spec().dtype || a.shards() != b.shards())
            return false;
          const std::vector<Tensor> ours = runtime::toHost(a), theirs = runtime::toHost(b);
          for (size_t i = 0; i < ours.size(); ++i)
            if (ours[i].bytes() != 0 && std::memcmp(ours[i].data(), theirs[i].data(), ours[i].bytes()) != 0)
              return false;
          return true;
        };
        return std::ranges::equal(lhs, rhs, same);
      },
      nb::arg("lhs"), nb::arg("rhs"), "Whether tensors have the same shapes, types and bits, in the same order.");
  struct Named {
    const char *name;
    BufferType buffer;
    tt::Layout layout;
  };
  for (const Named &named : {Named{"get_dram_interleaved_tile_layout", BufferType::DRAM, tt::Layout::Tile},
                             Named{"get_dram_interleaved_row_major_layout", BufferType::DRAM, tt::Layout::RowMajor},
                             Named{"get_host_row_major_layout", BufferType::SystemMemory, tt::Layout::RowMajor}})
    test.def(
        named.name, [named](HostType dtype) { return layoutOf(deviceType(dtype), named.buffer, named.layout); },
        nb::arg("dtype"));
}

} // namespace tt::python
