//===- TtnnTensor.cpp - the ttnn.Tensor class -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "TtnnText.h"
#include "tt/range_error.h"
#include "tt/sim/formats.h"
#include "tt/ttnn/shards.h"
#include "ttnn/control.hpp"
#include "ttnn/host_call.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

namespace tt::python {
namespace {

using runtime::Device;
using ttnn::Tensor;

/// ttnn.Shape, once that package is imported. Never destroyed: at exit the interpreter ends first.
nb::object &shapeType() {
  static auto *type = new nb::object();
  return *type;
}

//===----------------------------------------------------------------------===//
// Values from the host
//===----------------------------------------------------------------------===//

/// Values in the expected type, in one pass over the memory if possible.
Tensor converted(const HostArray &array, std::optional<DataType> dtype) {
  const DataType own = deviceType(array.type);
  if (dtype && *dtype != own && array.contiguous && hostType(own) == array.type && array.elements() > 0)
    return runtime::castTensor(runtime::createBorrowedHostTensor(const_cast<void *>(array.data), array.shape, own),
                               *dtype);
  return fromHost(array.data, array.shape, array.stride, hostBytes(array.type), array.type, dtype);
}

MemoryConfig dramInterleaved() { return {BufferType::DRAM, MemoryLayout::Interleaved, {}, {}}; }

/// The same values described with a layout, on a device if one is given. They are shared: nothing else writes them.
Tensor placed(const Tensor &values, std::optional<tt::Layout> layout, const Device &device,
              const std::optional<MemoryConfig> &memory, const char *action) {
  TensorSpec spec = values.spec();
  const bool block = sim::isBlockFormat(spec.dtype);
  spec.layout = layout.value_or(block ? tt::Layout::Tile : spec.layout);
  if (block && spec.layout != tt::Layout::Tile)
    throw RangeError(std::string(action) + ": data type " + dataTypeName(spec.dtype) +
                     " exists in TILE layout only, not in ROW_MAJOR");
  if (!device) {
    if (memory && memory->buffer != BufferType::SystemMemory)
      throw RangeError(std::string(action) + ": memory_config is " + text(*memory) + ", but no device is given");
    return values.withSpec(spec);
  }
  device->requireOpen(action);
  spec.memory = memory.value_or(dramInterleaved());
  if (spec.memory.buffer == BufferType::SystemMemory)
    throw nb::value_error((std::string(action) + ": memory_config is " + text(spec.memory) +
                           ", which is not a memory of the device; leave device out")
                              .c_str());
  ttnn::completeShards(device->chip(), spec);
  if (spec.distributed && values.meshShape() != device->meshShape())
    throw DeviceError(std::string(action) + ": the tensor has " + std::to_string(values.shards()) +
                      " shards, for a mesh of " + std::to_string(values.meshShape()[0]) + "x" +
                      std::to_string(values.meshShape()[1]) + "; device " + std::to_string(device->id()) + " is " +
                      std::to_string(device->rows()) + "x" + std::to_string(device->columns()));
  Tensor::Shards shards;
  for (size_t i = 0; i < values.shards(); ++i)
    shards.push_back(values.share(i));
  auto allocation = device->allocate(sim::footprint(device->chip(), spec), "tensor of " + std::string(action));
  return Tensor::onDevice(spec, std::move(shards), device, std::move(allocation));
}

Tensor fromArray(nb::handle array, std::optional<DataType> dtype, std::optional<tt::Layout> layout,
                 const Device &device, const std::optional<MemoryConfig> &memory, const char *action,
                 const Shape &emptyShape = {}) {
  HostArray values = hostArray(array);
  if (!emptyShape.empty()) { // which no buffer of Python has
    values.shape = emptyShape;
    values.stride.assign(emptyShape.size(), 1);
  }
  nb::gil_scoped_release unlocked;
  try {
    return placed(converted(values, dtype), layout, device, memory, action);
  } catch (const RangeError &error) {
    throw RangeError(std::string(action) + ": " + error.what());
  }
}

/// A sequence of Python as a tuple.
nb::tuple listed(const nb::object &value, const char *parameter, const char *expected) {
  PyObject *const found = PySequence_Tuple(value.ptr());
  if (!found || PyUnicode_Check(value.ptr())) {
    Py_XDECREF(found);
    PyErr_Clear();
    throw nb::type_error((std::string("ttnn.Tensor: ") + parameter + " is " + reprOf(value) + " of type " +
                          Py_TYPE(value.ptr())->tp_name + "; expected " + expected)
                             .c_str());
  }
  return nb::steal<nb::tuple>(found);
}

/// Numbers as an array of Python: of int64 if all are integers, of float otherwise.
nb::object arrayOf(const nb::tuple &values, const char *kind) {
  PyObject *const made = PyObject_CallMethod(nb::module_::import_("array").ptr(), "array", "sO", kind, values.ptr());
  if (made)
    return nb::steal(made);
  const bool tooLarge = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  PyErr_Clear();
  for (nb::handle value : values) {
    int overflow = 0;
    if (!PyNumber_Check(value.ptr()))
      throw nb::type_error(("ttnn.Tensor: data holds " + reprOf(value) + " of type " + Py_TYPE(value.ptr())->tp_name +
                            "; expected numbers")
                               .c_str());
    if (tooLarge && *kind == 'q' && PyLong_Check(value.ptr()) &&
        PyLong_AsLongLongAndOverflow(value.ptr(), &overflow) == -1 && overflow)
      throw RangeError("ttnn.Tensor: data holds " + reprOf(value) + "; expected integers of 64 bits");
  }
  throw RangeError("ttnn.Tensor: data holds a number beyond those of float32");
}

/// A list of numbers as an array of a shape.
nb::object shaped(const nb::object &data, const nb::object &shape) {
  const nb::tuple values = listed(data, "data", "a list of numbers");
  const nb::tuple sizes = listed(shape, "shape", "a list of sizes");
  int64_t count = 1;
  for (nb::handle size : sizes) {
    int64_t number = 0;
    if (PyBool_Check(size.ptr()) || !nb::try_cast(size, number))
      throw nb::type_error(("ttnn.Tensor: shape is " + reprOf(sizes) + "; expected integers").c_str());
    if (number < 0)
      throw nb::value_error(("ttnn.Tensor: shape is " + reprOf(sizes) + "; expected no negative sizes").c_str());
    if (__builtin_mul_overflow(count, number, &count))
      throw nb::value_error(("ttnn.Tensor: shape is " + reprOf(sizes) + ", which has 2^63 elements or more").c_str());
  }
  if (count != static_cast<int64_t>(values.size()))
    throw nb::value_error(("ttnn.Tensor: data has " + std::to_string(values.size()) + " values; expected " +
                           std::to_string(count) + ", of shape " + reprOf(sizes))
                              .c_str());
  bool integers = values.size() != 0;
  for (nb::handle value : values)
    integers = integers && nb::isinstance<nb::int_>(value) && !PyBool_Check(value.ptr());
  const char *const kind = integers ? "q" : "f";
  const nb::object flat = arrayOf(values, kind);
  const nb::object view = nb::steal(PyMemoryView_FromObject(flat.ptr()));
  if (!view.is_valid())
    throw nb::python_error();
  if (count == 0)
    return view;
  return view.attr("cast")("B").attr("cast")(kind, sizes);
}

/// The values that all chips agree on.
Tensor whole(const Tensor &tensor, const char *action) {
  tensor.requireAllocated(action);
  try {
    return tensor.single(action);
  } catch (const Error &error) {
    throw nb::value_error((std::string(error.what()) + "; give a mesh_composer to to_torch").c_str());
  }
}

nb::object item(const Tensor &tensor) {
  const Tensor self = whole(tensor, "Tensor.item");
  if (volume(self.shape()) != 1)
    throw nb::value_error(("Tensor.item: a tensor of shape " + toString(self.shape()) + " is not one value").c_str());
  return Values(self, 0).object(0);
}

Shape paddedShape(const Tensor &self) {
  Shape shape = self.shape();
  if (self.spec().layout != tt::Layout::Tile)
    return shape.empty() ? Shape{1} : shape;
  while (shape.size() < 2)
    shape.insert(shape.begin(), 1);
  int64_t &height = shape[shape.size() - 2], &width = shape.back();
  height = (height + sim::tileHeight - 1) / sim::tileHeight * sim::tileHeight;
  width = (width + sim::tileWidth - 1) / sim::tileWidth * sim::tileWidth;
  return shape;
}

} // namespace

nb::object pyShape(const Shape &shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!tuple.is_valid())
    throw nb::python_error();
  for (size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), nb::int_(shape[i]).release().ptr());
  return shapeType().is_valid() ? shapeType()(tuple) : tuple;
}

void bindTtnnTensor(nb::module_ &module, nb::class_<Tensor> &tensor) {
  tensor
      .def(
          "__init__",
          [](Tensor *self, nb::handle array, std::optional<DataType> dtype, std::optional<tt::Layout> layout,
             const Device &device, const std::optional<MemoryConfig> &memory) {
            new (self) Tensor(fromArray(array, dtype, layout, device, memory, "ttnn.Tensor"));
          },
          nb::arg("array"), nb::arg("dtype").noconvert() = nb::none(), nb::arg("layout").noconvert() = nb::none(),
          nb::arg("device").none() = nb::none(), nb::arg("memory_config") = nb::none(),
          "Copies a torch tensor, numpy array or anything else with DLPack or the buffer protocol.")
      .def(
          "__init__",
          [](Tensor *self, const nb::object &data, const nb::object &shape, DataType dtype, tt::Layout layout,
             const Device &device, const std::optional<MemoryConfig> &memory) {
            const nb::object values = shaped(data, shape);
            const Shape emptyShape =
                nb::cast<int64_t>(values.attr("nbytes")) == 0 ? nb::cast<Shape>(nb::list(shape)) : Shape{};
            new (self) Tensor(fromArray(values, dtype, layout, device, memory, "ttnn.Tensor", emptyShape));
          },
          nb::arg("data"), nb::arg("shape"), nb::arg("data_type").noconvert(), nb::arg("layout").noconvert(),
          nb::arg("device").none() = nb::none(), nb::arg("memory_config") = nb::none(),
          "Copies a list of numbers, row by row.")
      .def_prop_ro(
          "shape", [](const Tensor &self) { return pyShape(self.shape()); }, nb::sig("def shape(self) -> ttnn.Shape"),
          "Of one device's shard.")
      .def_prop_ro(
          "padded_shape", [](const Tensor &self) { return pyShape(paddedShape(self)); },
          nb::sig("def padded_shape(self) -> ttnn.Shape"), "With the padding of tiles.")
      .def_prop_ro("dtype", [](const Tensor &self) { return self.dtype(); })
      .def_prop_ro("layout", [](const Tensor &self) { return self.spec().layout; })
      .def(
          "memory_config",
          [](const Tensor &self) { return self.isOnDevice() ? self.spec().memory : dramInterleaved(); },
          "Where it lies on its device; on the host, where it would lie unless another place is given.")
      .def(
          "device", [](const Tensor &self) { return self.device(); }, "None on the host.")
      .def("storage_type",
           [](const Tensor &self) { return self.isOnDevice() ? TensorStorage::Device : TensorStorage::Host; })
      .def(
          "is_sharded", [](const Tensor &self) { return !self.spec().memory.shardShape.empty(); },
          "True when a chip's part is cut over its cores.")
      .def(
          "volume", [](const Tensor &self) { return volume(self.shape()); }, "Number of elements.")
      .def(
          "logical_volume", [](const Tensor &self) { return volume(self.shape()); }, "Number of elements.")
      .def(
          "physical_volume", [](const Tensor &self) { return volume(paddedShape(self)); },
          "Number of elements with the padding of tiles.")
      .def(
          "element_size", [](const Tensor &self) { return storageBytes(self.dtype()); }, "Bytes on the host.")
      .def("buffer_address", &Tensor::address, "In every bank it touches; 0 on the host.")
      .def(
          "deallocate", [](Tensor &self, bool) { self.deallocate(); }, nb::arg("force") = true,
          "Gives its memory back; the tensor cannot be used any more.")
      .def("item", &item, nb::sig("def item(self) -> bool | int | float"), "The value of a tensor of one element.")
      .def(
          "to_list", [](const Tensor &self) { return nestedLists(whole(self, "Tensor.to_list")); },
          nb::sig("def to_list(self) -> typing.Any"), "The values as nested lists.")
      .def("__len__",
           [](const Tensor &self) {
             if (self.shape().empty())
               throw nb::type_error("len() of a tensor without dimensions");
             return self.shape()[0];
           })
      .def("__bool__",
           [](const Tensor &self) {
             if (volume(self.shape()) != 1)
               throw nb::value_error(("a tensor of shape " + toString(self.shape()) +
                                      " is neither true nor false; compare its elements, or test `is None`")
                                         .c_str());
             return Values(whole(self, "bool()"), 0).number(0) != 0;
           })
      .def("__repr__", [](const Tensor &self) { return describe(self); });
  bindTtnnOperators(tensor);

  tensor
      .def_prop_ro("is_constant", &Tensor::constant, "Its values never change: what ops bring them into once is kept.")
      .def(
          "set_constant", [](const Tensor &self) { self.setConstant(); },
          "Says that its values stay as they are, as those of weights do.")
      .def(
          "set_parameter", [](const Tensor &self) { self.setParameter(); },
          "The same of a model's parameter: a program that is given it is prepared for its values, and prepared again "
          "when it is given another one.");
  module.def(
      "contents",
      [](const Tensor &self) {
        const ttnn::Contents &contents = self.contents();
        return nb::make_tuple(contents.id, contents.version.load(), contents.tracked.load());
      },
      nb::sig("def contents(tensor: _ttmlir_runtime.runtime.Tensor) -> tuple[int, int, bool]"), nb::arg("tensor"),
      "What is known of the values without looking: the same id and version mean the same values, unless the third is "
      "False: then another owner can write them without notice.");
  module.def(
      "selector", [](const Tensor &self, const char *what) { return ttnn::detail::selector(self, what); },
      nb::sig("def selector(tensor: _ttmlir_runtime.runtime.Tensor, what: str) -> float"), nb::arg("tensor"),
      nb::arg("what"), "The number of a tensor of one element, the same on all chips.");
  module.def(
      "owned",
      [](std::vector<Tensor> results, const std::vector<Tensor> &inputs) {
        return ttnn::detail::owned(std::move(results), inputs);
      },
      nb::sig("def owned(results: list[_ttmlir_runtime.runtime.Tensor], inputs: list[_ttmlir_runtime.runtime.Tensor]) "
              "-> list[_ttmlir_runtime.runtime.Tensor]"),
      nb::arg("results"), nb::arg("inputs"),
      "Results, with copies of those that are one of the inputs or there twice.");
  module.def(
      "host_call",
      [](const std::string &library, const std::string &function, const std::vector<Tensor> &tensors,
         const std::vector<std::tuple<std::vector<int64_t>, DataType, tt::Layout, MemoryConfig>> &results,
         const Device &device) {
        std::vector<ttnn::HostResult> described;
        for (const auto &[shape, dtype, layout, memory] : results)
          described.push_back({shape, dtype, layout, memory});
        nb::gil_scoped_release released;
        return ttnn::detail::hostCall(library, function, tensors, described, device);
      },
      nb::arg("library"), nb::arg("function"), nb::arg("tensors"), nb::arg("results"), nb::arg("device").none(),
      "Calls a function of a program's library; results are (shape, dtype, layout, memory_config).");
  module.def(
      "set_shape_type", [](nb::object type) { shapeType() = std::move(type); }, nb::arg("type"),
      "Returns the numbers of Tensor.shape; called by the package ttnn.");
  module.def(
      "from_array",
      [](nb::handle array, std::optional<DataType> dtype, std::optional<tt::Layout> layout, const Device &device,
         const std::optional<MemoryConfig> &memory) {
        return fromArray(array, dtype, layout, device, memory, "ttnn.from_torch");
      },
      nb::arg("array"), nb::arg("dtype").none().noconvert(), nb::arg("layout").none().noconvert(),
      nb::arg("device").none(), nb::arg("memory_config").none());
  module.def(
      "from_shards",
      [](const std::vector<Tensor> &shards, Ints<uint32_t> mesh, const Device &device,
         const std::optional<MemoryConfig> &memory) {
        const std::vector<uint32_t> meshShape = mesh.in("mesh_shape");
        nb::gil_scoped_release unlocked;
        return placed(runtime::createMultiDeviceHostTensor(shards, meshShape), std::nullopt, device, memory,
                      "ttnn.from_torch");
      },
      nb::arg("shards"), nb::arg("mesh_shape"), nb::arg("device").none(), nb::arg("memory_config").none(),
      "One tensor over a mesh of host tensors, row by row.");
  module.def(
      "single", [](const Tensor &tensor) { return whole(tensor, "to_torch"); }, nb::arg("tensor"),
      "The value that all chips agree on; ValueError names those that differ.");
  module.def(
      "gathered", [](const Tensor &tensor) { return tensor.gathered("to_torch"); }, nb::arg("tensor"),
      nb::call_guard<nb::gil_scoped_release>(),
      "The tensor with the shards of all ranks, which must all call it; itself when this process has all.");
  module.def(
      "copy_to_host",
      [](const Tensor &tensor, IndexArgument shardGiven, Address addressGiven) {
        tensor.requireAllocated("ttnn.to_torch");
        const size_t shard = shardGiven.in("shard", 0, static_cast<int64_t>(tensor.shards()) - 1);
        void *const address = addressGiven.in("address");
        nb::gil_scoped_release unlocked;
        runtime::copyData(address, tensor.shard(shard));
      },
      nb::arg("tensor"), nb::arg("shard"), nb::arg("address"), "Writes the stored values of a shard to an address.");
}

} // namespace tt::python
