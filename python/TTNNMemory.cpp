//===- TTNNMemory.cpp - Python classes of where TTNN's tensors lie --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir::tt::ttnn;
using namespace ttmlir::python;

/// Raises TypeError naming the parameter for an attribute of another class.
template <class Attr> static Attr given(MlirAttribute attribute, const char *parameter, const char *expected) {
  if (auto found = llvm::dyn_cast_or_null<Attr>(unwrap(attribute)))
    return found;
  throw nb::type_error((std::string(parameter) + " is an attribute of another class; expected " + expected).c_str());
}

static MlirAttribute wrapped(mlir::Attribute attribute) { return wrap(attribute); }

template <class Attr, class... Values> static MlirAttribute verified(MlirContext context, Values... values) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(unwrap(context), [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(unwrap(context))); };
  Attr attribute = Attr::getChecked(emitError, unwrap(context), values...);
  if (!attribute)
    throw nb::value_error(message.c_str());
  return wrapped(attribute);
}

static void addCores(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();
  attributeClass<CoreCoordAttr>(m, "CoreCoordAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, uint64_t y, uint64_t x, MlirContext context) {
            return wrapped(CoreCoordAttr::get(unwrap(context), x, y));
          },
          nb::arg("cls"), nb::arg("y"), nb::arg("x"), context)
      .def_property_readonly("y", [](MlirAttribute self) { return cast<CoreCoordAttr>(self).getY(); })
      .def_property_readonly("x", [](MlirAttribute self) { return cast<CoreCoordAttr>(self).getX(); });

  attributeClass<CoreRangeAttr>(m, "CoreRangeAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, MlirAttribute start, MlirAttribute end, MlirContext context) {
            return verified<CoreRangeAttr>(context, given<CoreCoordAttr>(start, "start", "a CoreCoordAttr"),
                                           given<CoreCoordAttr>(end, "end", "a CoreCoordAttr"));
          },
          nb::arg("cls"), nb::arg("start"), nb::arg("end"), context)
      .def_property_readonly("start_coord",
                             [](MlirAttribute self) { return wrapped(cast<CoreRangeAttr>(self).getStartCoord()); })
      .def_property_readonly("end_coord",
                             [](MlirAttribute self) { return wrapped(cast<CoreRangeAttr>(self).getEndCoord()); });

  attributeClass<CoreRangeSetAttr>(m, "CoreRangeSetAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::vector<MlirAttribute> &ranges, MlirContext context) {
            llvm::SmallVector<CoreRangeAttr> list = castAll<CoreRangeAttr>(ranges, "coreRanges");
            return verified<CoreRangeSetAttr>(context, llvm::ArrayRef(list));
          },
          nb::arg("cls"), nb::arg("coreRanges"), context)
      .def_property_readonly("core_ranges",
                             [](MlirAttribute self) { return wrapAll(cast<CoreRangeSetAttr>(self).getCoreRanges()); });
}

void ttmlir::python::populateTTNNMemory(nb::module_ &m) {
  addCores(m);
  auto context = nb::arg("context").none() = nb::none();
  attributeClass<ShardSpecAttr>(m, "ShardSpecAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, MlirAttribute cores, MlirAttribute shape, MlirAttribute orientation,
             MlirContext context) {
            return wrapped(ShardSpecAttr::get(
                unwrap(context), given<CoreRangeSetAttr>(cores, "coreRangeSet", "a CoreRangeSetAttr"),
                given<ShapeAttr>(shape, "shardShape", "a ShapeAttr"),
                given<ShardOrientationAttr>(orientation, "shardOrientation", "a ShardOrientationAttr")));
          },
          nb::arg("cls"), nb::arg("coreRangeSet"), nb::arg("shardShape"), nb::arg("shardOrientation"), context)
      .def_property_readonly("core_range_set",
                             [](MlirAttribute self) { return wrapped(cast<ShardSpecAttr>(self).getCoreRangeSet()); })
      .def_property_readonly("shard_shape",
                             [](MlirAttribute self) { return wrapped(cast<ShardSpecAttr>(self).getShape()); })
      .def_property_readonly("shard_orientation", [](MlirAttribute self) {
        return wrapped(cast<ShardSpecAttr>(self).getShardOrientation());
      });

  attributeClass<MemoryConfigAttr>(m, "MemoryConfigAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, MlirAttribute layout, MlirAttribute buffer, std::optional<MlirAttribute> shards,
             MlirContext context) {
            std::optional<ShardSpecAttr> spec;
            if (shards)
              spec = given<ShardSpecAttr>(*shards, "shardSpec", "a ShardSpecAttr");
            return verified<MemoryConfigAttr>(
                context, given<TensorMemoryLayoutAttr>(layout, "tensorMemoryLayoutAttr", "a TensorMemoryLayoutAttr"),
                given<BufferTypeAttr>(buffer, "bufferTypeAttr", "a BufferTypeAttr"), spec,
                std::optional<NDShardSpecAttr>());
          },
          nb::arg("cls"), nb::arg("tensorMemoryLayoutAttr"), nb::arg("bufferTypeAttr"),
          nb::arg("shardSpec").none() = nb::none(), context)
      .def_property_readonly("buffer_type",
                             [](MlirAttribute self) { return wrapped(cast<MemoryConfigAttr>(self).getBufferType()); })
      .def_property_readonly("tensor_memory_layout",
                             [](MlirAttribute self) -> std::optional<MlirAttribute> {
                               if (auto layout = cast<MemoryConfigAttr>(self).getTensorMemoryLayout())
                                 return wrapped(layout);
                               return std::nullopt;
                             })
      .def_property_readonly("shard_spec", [](MlirAttribute self) -> std::optional<MlirAttribute> {
        if (auto spec = cast<MemoryConfigAttr>(self).getShardSpec())
          return wrapped(*spec);
        return std::nullopt;
      });
}
