//===- TTCore.cpp - Python classes of the ttcore dialect ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

using namespace mlir::tt::ttcore;
using Sizes = std::vector<int64_t>;

static Sizes toVector(llvm::ArrayRef<int64_t> values) { return Sizes(values.begin(), values.end()); }

/// Raises ValueError for an invalid mesh shape, with the message of the verifier of meshes.
static void checkMeshShape(MlirContext context, const Sizes &shape) {
  ttmlir::python::checked<MeshAttr>(context, mlir::StringAttr::get(unwrap(context), "mesh"),
                                    llvm::ArrayRef<int64_t>(shape));
}

/// All dimensions but the last are rows; the last is the columns.
static mlir::DenseIntElementsAttr collapsedToMatrix(mlir::MLIRContext *context, int64_t rank) {
  const int64_t rows = std::max<int64_t>(rank - 1, 0);
  const std::array<int64_t, 4> intervals = {0, rows, rows, rank};
  auto type = mlir::RankedTensorType::get({2, 2}, mlir::IntegerType::get(context, 64));
  return mlir::DenseIntElementsAttr::get(type, llvm::ArrayRef<int64_t>(intervals));
}

/// Tiles cover the last two dimensions.
static Sizes alignedToTiles(size_t rank) {
  Sizes alignments(rank, 1);
  for (size_t i = rank - std::min<size_t>(rank, 2); i < rank; ++i)
    alignments[i] = 32;
  return alignments;
}

void ttmlir::python::populateTTCore(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();

  enumAttribute<ArchAttr, Arch>(m, "ArchAttr", symbolizeArch);
  enumAttribute<ArgumentTypeAttr, ArgumentType>(m, "ArgumentTypeAttr", symbolizeArgumentType);
  enumAttribute<AttentionMaskTypeAttr, AttentionMaskType>(m, "AttentionMaskTypeAttr", symbolizeAttentionMaskType);
  enumAttribute<DataTypeAttr, DataType>(m, "DataTypeAttr", symbolizeDataType);
  enumAttribute<IteratorTypeAttr, IteratorType>(m, "IteratorTypeAttr", symbolizeIteratorType);
  enumAttribute<MemorySpaceAttr, MemorySpace>(m, "MemorySpaceAttr", symbolizeMemorySpace);
  enumAttribute<MeshShardDirectionAttr, MeshShardDirection>(m, "MeshShardDirectionAttr", symbolizeMeshShardDirection);
  enumAttribute<MeshShardTypeAttr, MeshShardType>(m, "MeshShardTypeAttr", symbolizeMeshShardType);
  enumAttribute<OOBValAttr, OOBVal>(m, "OOBValAttr", symbolizeOOBVal);
  enumAttribute<ReduceTypeAttr, ReduceType>(m, "ReduceTypeAttr", symbolizeReduceType);
  enumAttribute<ShardStatusAttr, ShardStatus>(m, "ShardStatusAttr", symbolizeShardStatus);
  enumAttribute<TopologyAttr, Topology>(m, "TopologyAttr", symbolizeTopology);

  attributeClass<MeshAttr>(m, "MeshAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::string &name, const Sizes &shape, MlirContext context) {
            return checked<MeshAttr>(context, mlir::StringAttr::get(unwrap(context), name),
                                     llvm::ArrayRef<int64_t>(shape));
          },
          nb::arg("cls"), nb::arg("name"), nb::arg("shape"), context)
      .def_property_readonly("name", [](MlirAttribute self) { return cast<MeshAttr>(self).getName().str(); })
      .def_property_readonly("shape", [](MlirAttribute self) { return toVector(cast<MeshAttr>(self).getShape()); });

  attributeClass<MeshesAttr>(m, "MeshesAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::vector<MlirAttribute> &meshes, MlirContext context) {
            return wrap(
                static_cast<mlir::Attribute>(MeshesAttr::get(unwrap(context), castAll<MeshAttr>(meshes, "meshes"))));
          },
          nb::arg("cls"), nb::arg("meshes"), context)
      .def_property_readonly("meshes", [](MlirAttribute self) { return wrapAll(cast<MeshesAttr>(self).getMeshes()); });

  attributeClass<LocalShapeAttr>(m, "LocalShapeAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, MlirType type, MlirContext context) {
            auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(unwrap(type));
            if (!tensor)
              throw nb::value_error("local_shape is a ranked tensor type");
            return wrap(static_cast<mlir::Attribute>(LocalShapeAttr::get(unwrap(context), tensor)));
          },
          nb::arg("cls"), nb::arg("local_shape"), context)
      .def_property_readonly("local_shape", [](MlirAttribute self) {
        return wrap(static_cast<mlir::Type>(cast<LocalShapeAttr>(self).getLocalShape()));
      });

  attributeClass<RuntimeTensorShardingAttr>(m, "RuntimeTensorShardingAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, uint32_t status, MlirType type, MlirContext context) {
            auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(unwrap(type));
            std::optional<ShardStatus> symbol = symbolizeShardStatus(status);
            if (!tensor || !symbol)
              throw nb::value_error("expected a value of ShardStatus and a ranked tensor type");
            return wrap(static_cast<mlir::Attribute>(RuntimeTensorShardingAttr::get(
                unwrap(context), ShardStatusAttr::get(unwrap(context), *symbol), tensor)));
          },
          nb::arg("cls"), nb::arg("shard_status"), nb::arg("local_shape"), context)
      .def_property_readonly("shard_status",
                             [](MlirAttribute self) {
                               return static_cast<uint32_t>(
                                   cast<RuntimeTensorShardingAttr>(self).getShardStatus().getValue());
                             })
      .def_property_readonly("local_shape", [](MlirAttribute self) {
        return wrap(static_cast<mlir::Type>(cast<RuntimeTensorShardingAttr>(self).getLocalShape()));
      });

  attributeClass<GridAttr>(m, "GridAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Sizes &shape, std::optional<MlirAffineMap> virtToPhysical,
             std::optional<MlirAffineMap> physicalToVirt, MlirContext context) {
            if (llvm::any_of(shape, [](int64_t size) { return size < 1; }))
              throw nb::value_error("a grid has sizes of 1 or more");
            auto map = [&](const std::optional<MlirAffineMap> &given) {
              return given ? unwrap(*given) : mlir::AffineMap::get(unwrap(context));
            };
            return wrap(static_cast<mlir::Attribute>(
                GridAttr::get(unwrap(context), shape, map(virtToPhysical), map(physicalToVirt))));
          },
          nb::arg("cls"), nb::arg("shape"), nb::arg("virt_to_physical_map").none() = nb::none(),
          nb::arg("physical_to_virt_map").none() = nb::none(), context)
      .def_property_readonly("shape", [](MlirAttribute self) { return toVector(cast<GridAttr>(self).getShape()); });

  attributeClass<MetalLayoutAttr>(m, "MetalLayoutAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Sizes &shape, uint32_t memorySpace, uint32_t memoryLayout,
             std::optional<MlirAttribute> intervals, std::optional<Sizes> alignments, MlirContext context) {
            std::optional<MemorySpace> memory = symbolizeMemorySpace(memorySpace);
            std::optional<TensorMemoryLayout> layout = symbolizeTensorMemoryLayout(memoryLayout);
            if (!memory || !layout)
              throw nb::value_error("expected a value of MemorySpace and one of TensorMemoryLayout");
            mlir::DenseIntElementsAttr collapsed;
            if (intervals)
              collapsed = llvm::dyn_cast<mlir::DenseIntElementsAttr>(unwrap(*intervals));
            else
              collapsed = collapsedToMatrix(unwrap(context), static_cast<int64_t>(shape.size()));
            if (!collapsed)
              throw nb::value_error("collapsed_intervals is a DenseIntElementsAttr");
            const Sizes aligned = alignments ? *alignments : alignedToTiles(shape.size());
            return checked<MetalLayoutAttr>(context, llvm::ArrayRef<int64_t>(shape), llvm::ArrayRef<int64_t>(aligned),
                                            collapsed, *memory, *layout);
          },
          nb::arg("cls"), nb::arg("logical_shape"), nb::arg("memory_space"),
          nb::arg("memory_layout") = static_cast<uint32_t>(TensorMemoryLayout::Sharded),
          nb::arg("collapsed_intervals").none() = nb::none(), nb::arg("dim_alignments").none() = nb::none(), context)
      .def_property_readonly("logical_shape",
                             [](MlirAttribute self) { return toVector(cast<MetalLayoutAttr>(self).getLogicalShape()); })
      .def_property_readonly(
          "dim_alignments", [](MlirAttribute self) { return toVector(cast<MetalLayoutAttr>(self).getDimAlignments()); })
      .def_property_readonly("collapsed_intervals",
                             [](MlirAttribute self) {
                               return wrap(
                                   static_cast<mlir::Attribute>(cast<MetalLayoutAttr>(self).getCollapsedIntervals()));
                             })
      .def_property_readonly(
          "memory_space",
          [](MlirAttribute self) { return static_cast<uint32_t>(cast<MetalLayoutAttr>(self).getMemorySpace()); })
      .def_property_readonly("memory_layout", [](MlirAttribute self) {
        return static_cast<uint32_t>(cast<MetalLayoutAttr>(self).getMemoryLayout());
      });

  attributeClass<SystemDescAttr>(m, "SystemDescAttr")
      .def_classmethod(
          "get_default",
          [](const nb::object &, uint32_t arch, const Sizes &meshShape, MlirContext context) {
            std::optional<Arch> symbol = symbolizeArch(arch);
            checkMeshShape(context, meshShape);
            auto desc = symbol ? SystemDescAttr::getDefault(unwrap(context), *symbol, meshShape) : SystemDescAttr();
            if (!desc)
              throw nb::value_error("no default system for this architecture");
            return wrap(static_cast<mlir::Attribute>(desc));
          },
          nb::arg("cls"), nb::arg("arch") = static_cast<uint32_t>(Arch::WormholeB0),
          nb::arg("mesh_shape") = Sizes{1, 1}, context)
      .def_property_readonly("chip_descs",
                             [](MlirAttribute self) { return wrapAll(cast<SystemDescAttr>(self).getChipDescs()); });

  auto chip = attributeClass<ChipDescAttr>(m, "ChipDescAttr");
  chip.def_property_readonly(
          "arch", [](MlirAttribute self) { return stringifyArch(cast<ChipDescAttr>(self).getArch().getValue()).str(); })
      .def_property_readonly("grid", [](MlirAttribute self) { return toVector(cast<ChipDescAttr>(self).getGrid()); });
  const std::pair<const char *, unsigned (ChipDescAttr::*)() const> figures[] = {
      {"l1_size", &ChipDescAttr::getL1Size},
      {"num_dram_channels", &ChipDescAttr::getNumDramChannels},
      {"dram_channel_size", &ChipDescAttr::getDramChannelSize},
      {"l1_unreserved_base", &ChipDescAttr::getL1UnreservedBase},
      {"dram_unreserved_base", &ChipDescAttr::getDramUnreservedBase},
      {"dram_unreserved_end", &ChipDescAttr::getDramUnreservedEnd},
      {"usable_l1_size", &ChipDescAttr::getUsableL1Size},
      {"usable_dram_channel_size", &ChipDescAttr::getUsableDramChannelSize},
      {"num_cbs", &ChipDescAttr::getNumCBs},
  };
  for (auto [name, getter] : figures)
    chip.def_property_readonly(name,
                               [getter = getter](MlirAttribute self) { return (cast<ChipDescAttr>(self).*getter)(); });

  attributeClass<DeviceAttr>(m, "DeviceAttr")
      .def_classmethod(
          "from_system_desc",
          [](const nb::object &, MlirAttribute systemDesc, const Sizes &meshShape) {
            auto desc = llvm::dyn_cast<SystemDescAttr>(unwrap(systemDesc));
            if (!desc)
              throw nb::value_error("expected a SystemDescAttr");
            checkMeshShape(wrap(desc.getContext()), meshShape);
            if (desc.getChipDescs().empty())
              throw nb::value_error("the system has no chips");
            return wrap(static_cast<mlir::Attribute>(DeviceAttr::get(desc, meshShape)));
          },
          nb::arg("cls"), nb::arg("system_desc"), nb::arg("mesh_shape"))
      .def_property_readonly("mesh_shape",
                             [](MlirAttribute self) { return toVector(cast<DeviceAttr>(self).getMeshShape()); })
      .def_property_readonly("chip_ids", [](MlirAttribute self) {
        auto ids = cast<DeviceAttr>(self).getChipIds();
        return std::vector<unsigned>(ids.begin(), ids.end());
      });

  typeClass<TileType>(m, "TileType")
      .def_classmethod(
          "get",
          [](const nb::object &, int64_t height, int64_t width, uint32_t dataType, MlirContext context) {
            std::optional<DataType> symbol = symbolizeDataType(dataType);
            std::string message = "TileType has no data type " + std::to_string(dataType);
            mlir::ScopedDiagnosticHandler handler(unwrap(context), [&](mlir::Diagnostic &diagnostic) {
              message = diagnostic.str();
              return mlir::success();
            });
            TileType type;
            if (symbol)
              type = TileType::getChecked([&] { return mlir::emitError(mlir::UnknownLoc::get(unwrap(context))); },
                                          unwrap(context), llvm::ArrayRef<int64_t>{height, width}, *symbol);
            if (!type)
              throw nb::value_error(message.c_str());
            return wrap(static_cast<mlir::Type>(type));
          },
          nb::arg("cls"), nb::arg("height"), nb::arg("width"), nb::arg("data_type"), context)
      .def_property_readonly("shape", [](MlirType self) { return toVector(cast<TileType>(self).getShape()); })
      .def_property_readonly("data_type",
                             [](MlirType self) { return static_cast<uint32_t>(cast<TileType>(self).getDataType()); });
}
