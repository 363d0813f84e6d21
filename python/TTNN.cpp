//===- TTNN.cpp - Python classes of the ttnn dialect ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

using namespace mlir::tt;
using namespace mlir::tt::ttnn;
using Sizes = std::vector<int64_t>;

namespace {
Sizes toVector(llvm::ArrayRef<int64_t> values) { return Sizes(values.begin(), values.end()); }

/// The value of an enum, or ValueError with the name of the enum.
template <class Enum> Enum symbolOr(std::optional<Enum> (*symbolize)(uint32_t), uint32_t value, const char *what) {
  if (std::optional<Enum> symbol = symbolize(value))
    return *symbol;
  throw nanobind::value_error((std::string(what) + " has no value " + std::to_string(value)).c_str());
}
} // namespace

void ttmlir::python::populateTTNN(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();

  enumAttribute<BufferTypeAttr, BufferType>(m, "BufferTypeAttr", symbolizeBufferType);
  enumAttribute<LayoutAttr, Layout>(m, "LayoutAttr", symbolizeLayout);
  enumAttribute<ShardOrientationAttr, ShardOrientation>(m, "ShardOrientationAttr", symbolizeShardOrientation);
  enumAttribute<ShardDistributionStrategyAttr, ShardDistributionStrategy>(m, "ShardDistributionStrategyAttr",
                                                                          symbolizeShardDistributionStrategy);
  enumAttribute<TensorMemoryLayoutAttr, TensorMemoryLayout>(m, "TensorMemoryLayoutAttr", symbolizeTensorMemoryLayout);

  attributeClass<ShapeAttr>(m, "ShapeAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Sizes &shape, MlirContext context) {
            return wrap(static_cast<mlir::Attribute>(ShapeAttr::get(unwrap(context), shape)));
          },
          nb::arg("cls"), nb::arg("shape"), context)
      .def_property_readonly("shape", [](MlirAttribute self) { return toVector(cast<ShapeAttr>(self).getShape()); });

  attributeClass<MeshShapeAttr>(m, "MeshShapeAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, int64_t y, int64_t x, MlirContext context) {
            return wrap(static_cast<mlir::Attribute>(MeshShapeAttr::get(unwrap(context), y, x)));
          },
          nb::arg("cls"), nb::arg("y"), nb::arg("x"), context)
      .def_property_readonly("y", [](MlirAttribute self) { return cast<MeshShapeAttr>(self).getY(); })
      .def_property_readonly("x", [](MlirAttribute self) { return cast<MeshShapeAttr>(self).getX(); });

  attributeClass<MeshOffsetAttr>(m, "MeshOffsetAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, int64_t y, int64_t x, MlirContext context) {
            return wrap(static_cast<mlir::Attribute>(MeshOffsetAttr::get(unwrap(context), y, x)));
          },
          nb::arg("cls"), nb::arg("y"), nb::arg("x"), context)
      .def_property_readonly("y", [](MlirAttribute self) { return cast<MeshOffsetAttr>(self).getY(); })
      .def_property_readonly("x", [](MlirAttribute self) { return cast<MeshOffsetAttr>(self).getX(); });

  attributeClass<TTNNLayoutAttr>(m, "TTNNLayoutAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Sizes &shape, uint32_t dataType, uint32_t layout, uint32_t bufferType,
             MlirContext context) {
            for (int64_t size : shape)
              if (size < 0)
                throw nb::value_error("a layout is of a static shape");
            auto attr = TTNNLayoutAttr::get(
                unwrap(context), shape, symbolOr(ttcore::symbolizeDataType, dataType, "DataType"),
                symbolOr(symbolizeLayout, layout, "Layout"), symbolOr(symbolizeBufferType, bufferType, "BufferType"));
            if (!attr)
              throw nb::value_error("the tensor's size exceeds 64 bits");
            return wrap(static_cast<mlir::Attribute>(attr));
          },
          nb::arg("cls"), nb::arg("shape"), nb::arg("data_type"),
          nb::arg("layout") = static_cast<uint32_t>(Layout::Tile),
          nb::arg("buffer_type") = static_cast<uint32_t>(BufferType::DRAM), context,
          "An interleaved layout (or a host one) of a tensor of `shape`.")
      .def_property_readonly("linear", [](MlirAttribute self) { return wrap(cast<TTNNLayoutAttr>(self).getLinear()); })
      .def_property_readonly("grid_shape",
                             [](MlirAttribute self) { return toVector(cast<TTNNLayoutAttr>(self).getGridShape()); })
      .def_property_readonly(
          "memref",
          [](MlirAttribute self) { return wrap(static_cast<mlir::Type>(cast<TTNNLayoutAttr>(self).getMemref())); })
      .def_property_readonly(
          "data_type_as_int",
          [](MlirAttribute self) { return static_cast<uint32_t>(cast<TTNNLayoutAttr>(self).getDataType()); })
      .def_property_readonly(
          "memory_layout_as_int",
          [](MlirAttribute self) { return static_cast<uint32_t>(cast<TTNNLayoutAttr>(self).getLayout()); })
      .def_property_readonly("buffer_type_as_int", [](MlirAttribute self) {
        return static_cast<uint32_t>(cast<TTNNLayoutAttr>(self).getBufferType());
      });
}
