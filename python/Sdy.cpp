//===- Sdy.cpp - Python classes of the sdy dialect ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

using namespace mlir::sdy;
using namespace ttmlir::python;
using Attributes = std::vector<MlirAttribute>;
using Numbers = std::vector<int64_t>;

static Numbers toVector(llvm::ArrayRef<int64_t> values) { return Numbers(values.begin(), values.end()); }

/// A read-only property: a list of attributes, as Python attributes.
template <class Attr, class Element> static auto listOf(llvm::ArrayRef<Element> (Attr::*get)() const) {
  return [get](MlirAttribute self) { return wrapAll((ttmlir::python::cast<Attr>(self).*get)()); };
}

template <class Attr> static auto numbersOf(llvm::ArrayRef<int64_t> (Attr::*get)() const) {
  return [get](MlirAttribute self) { return toVector((ttmlir::python::cast<Attr>(self).*get)()); };
}

template <class Attr, class Value> static auto valueOf(Value (Attr::*get)() const) {
  return [get](MlirAttribute self) { return (ttmlir::python::cast<Attr>(self).*get)(); };
}

/// An attribute that is a list of attributes of one class; behaves like a list.
template <class Attr, class Element>
static void listAttribute(nb::module_ &m, const char *name, const char *parameter,
                          llvm::ArrayRef<Element> (Attr::*get)() const) {
  std::string what = parameter;
  attributeClass<Attr>(m, name)
      .def_classmethod(
          "get",
          [what](const nb::object &, const Attributes &values, MlirContext context) {
            return wrap(
                static_cast<mlir::Attribute>(Attr::get(unwrap(context), castAll<Element>(values, what.c_str()))));
          },
          nb::arg("cls"), nb::arg(parameter), nb::arg("context").none() = nb::none())
      .def_property_readonly(parameter, listOf(get))
      .def("__len__", [get](MlirAttribute self) { return (ttmlir::python::cast<Attr>(self).*get)().size(); })
      .def("__getitem__", [get](MlirAttribute self, int64_t index) {
        llvm::ArrayRef<Element> values = (ttmlir::python::cast<Attr>(self).*get)();
        if (index < 0)
          index += static_cast<int64_t>(values.size());
        if (index < 0 || index >= static_cast<int64_t>(values.size()))
          throw nb::index_error();
        return wrap(static_cast<mlir::Attribute>(values[index]));
      });
}

/// A mesh: its name, or the attribute.
static mlir::Attribute meshOrRef(const std::variant<std::string, MlirAttribute> &mesh, mlir::MLIRContext *context) {
  if (auto *name = std::get_if<std::string>(&mesh))
    return mlir::FlatSymbolRefAttr::get(context, *name);
  return unwrap(std::get<MlirAttribute>(mesh));
}

static void addMeshes(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();
  attributeClass<MeshAxisAttr>(m, "MeshAxisAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::string &name, int64_t size, MlirContext context) {
            return checked<MeshAxisAttr>(context, llvm::StringRef(name), size);
          },
          nb::arg("cls"), nb::arg("name"), nb::arg("size"), context)
      .def_property_readonly("name", [](MlirAttribute self) { return cast<MeshAxisAttr>(self).getName().str(); })
      .def_property_readonly("size", valueOf(&MeshAxisAttr::getSize));

  attributeClass<MeshAttr>(m, "MeshAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Attributes &axes, const Numbers &deviceIds, MlirContext context) {
            llvm::SmallVector<MeshAxisAttr> list = castAll<MeshAxisAttr>(axes, "axes");
            return checked<MeshAttr>(context, llvm::ArrayRef(list), llvm::ArrayRef<int64_t>(deviceIds));
          },
          nb::arg("cls"), nb::arg("axes"), nb::arg("device_ids") = Numbers(), context)
      .def_property_readonly("axes", listOf(&MeshAttr::getAxes))
      .def_property_readonly("device_ids", numbersOf(&MeshAttr::getDeviceIds));

  attributeClass<SubAxisInfoAttr>(m, "SubAxisInfoAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, int64_t preSize, int64_t size, MlirContext context) {
            return checked<SubAxisInfoAttr>(context, preSize, size);
          },
          nb::arg("cls"), nb::arg("pre_size"), nb::arg("size"), context)
      .def_property_readonly("pre_size", valueOf(&SubAxisInfoAttr::getPreSize))
      .def_property_readonly("size", valueOf(&SubAxisInfoAttr::getSize));

  attributeClass<AxisRefAttr>(m, "AxisRefAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::string &name, std::optional<MlirAttribute> sub, MlirContext context) {
            SubAxisInfoAttr info;
            if (sub)
              info = castAll<SubAxisInfoAttr>({*sub}, "sub_axis_info_attr").front();
            return wrap(static_cast<mlir::Attribute>(AxisRefAttr::get(unwrap(context), name, info)));
          },
          nb::arg("cls"), nb::arg("name"), nb::arg("sub_axis_info_attr").none() = nb::none(), context)
      .def_property_readonly("name", [](MlirAttribute self) { return cast<AxisRefAttr>(self).getName().str(); })
      .def_property_readonly("sub_axis_info", [](MlirAttribute self) -> std::optional<MlirAttribute> {
        if (SubAxisInfoAttr info = cast<AxisRefAttr>(self).getSubAxisInfo())
          return wrap(static_cast<mlir::Attribute>(info));
        return std::nullopt;
      });

  listAttribute<AxisRefListAttr, AxisRefAttr>(m, "AxisRefListAttr", "value", &AxisRefListAttr::getValue);
  listAttribute<ListOfAxisRefListsAttr, AxisRefListAttr>(m, "ListOfAxisRefListsAttr", "value",
                                                         &ListOfAxisRefListsAttr::getValue);
  listAttribute<ManualAxesAttr, mlir::StringAttr>(m, "ManualAxesAttr", "manual_axes", &ManualAxesAttr::getValue);
}

static void addShardings(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();
  attributeClass<DimensionShardingAttr>(m, "DimensionShardingAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Attributes &axes, bool isClosed, std::optional<int64_t> priority,
             MlirContext context) {
            llvm::SmallVector<AxisRefAttr> list = castAll<AxisRefAttr>(axes, "axes");
            return checked<DimensionShardingAttr>(context, llvm::ArrayRef(list), isClosed, priority);
          },
          nb::arg("cls"), nb::arg("axes"), nb::arg("is_closed"), nb::arg("priority").none() = nb::none(), context)
      .def_property_readonly("axes", listOf(&DimensionShardingAttr::getAxes))
      .def_property_readonly("is_closed", valueOf(&DimensionShardingAttr::getIsClosed))
      .def_property_readonly("priority", valueOf(&DimensionShardingAttr::getPriority))
      .def("__len__", [](MlirAttribute self) { return cast<DimensionShardingAttr>(self).getAxes().size(); });

  attributeClass<TensorShardingAttr>(m, "TensorShardingAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const std::variant<std::string, MlirAttribute> &mesh, const Attributes &dimensions,
             const Attributes &replicated, const Attributes &unreduced, MlirContext context) {
            llvm::SmallVector<DimensionShardingAttr> dims =
                castAll<DimensionShardingAttr>(dimensions, "dimension_shardings");
            llvm::SmallVector<AxisRefAttr> replicatedAxes = castAll<AxisRefAttr>(replicated, "replicated_axes");
            llvm::SmallVector<AxisRefAttr> unreducedAxes = castAll<AxisRefAttr>(unreduced, "unreduced_axes");
            return checked<TensorShardingAttr>(context, meshOrRef(mesh, unwrap(context)), llvm::ArrayRef(dims),
                                               llvm::ArrayRef(replicatedAxes), llvm::ArrayRef(unreducedAxes),
                                               ReductionOp::SUM);
          },
          nb::arg("cls"), nb::arg("mesh_or_ref"), nb::arg("dimension_shardings"),
          nb::arg("replicated_axes") = Attributes(), nb::arg("unreduced_axes") = Attributes(), context)
      .def_property_readonly("mesh_or_ref",
                             [](MlirAttribute self) { return wrap(cast<TensorShardingAttr>(self).getMeshOrRef()); })
      .def_property_readonly("dimension_shardings", listOf(&TensorShardingAttr::getDimShardings))
      .def_property_readonly("replicated_axes", listOf(&TensorShardingAttr::getReplicatedAxes))
      .def_property_readonly("unreduced_axes", listOf(&TensorShardingAttr::getUnreducedAxes));

  listAttribute<TensorShardingPerValueAttr, TensorShardingAttr>(m, "TensorShardingPerValueAttr", "shardings",
                                                                &TensorShardingPerValueAttr::getShardings);
}

static void addShardingRules(nb::module_ &m) {
  auto context = nb::arg("context").none() = nb::none();
  attributeClass<DimMappingAttr>(m, "DimMappingAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Numbers &factors, MlirContext context) {
            return checked<DimMappingAttr>(context, llvm::ArrayRef<int64_t>(factors));
          },
          nb::arg("cls"), nb::arg("factor_indices"), context)
      .def_property_readonly("factor_indices", numbersOf(&DimMappingAttr::getFactorIndices));

  listAttribute<TensorMappingAttr, DimMappingAttr>(m, "TensorMappingAttr", "dim_mappings",
                                                   &TensorMappingAttr::getDimMappings);

  attributeClass<OpShardingRuleAttr>(m, "OpShardingRuleAttr")
      .def_classmethod(
          "get",
          [](const nb::object &, const Numbers &sizes, const Attributes &operands, const Attributes &results,
             const Numbers &reduction, const Numbers &needReplication, const Numbers &permutation,
             const Numbers &blocked, bool isCustom, MlirContext context) {
            llvm::SmallVector<TensorMappingAttr> operandMappings =
                castAll<TensorMappingAttr>(operands, "operand_mappings");
            llvm::SmallVector<TensorMappingAttr> resultMappings =
                castAll<TensorMappingAttr>(results, "result_mappings");
            using List = llvm::ArrayRef<int64_t>;
            return checked<OpShardingRuleAttr>(context, List(sizes), llvm::ArrayRef(operandMappings),
                                               llvm::ArrayRef(resultMappings), List(reduction), List(needReplication),
                                               List(permutation), List(blocked), isCustom);
          },
          nb::arg("cls"), nb::arg("factor_sizes"), nb::arg("operand_mappings"), nb::arg("result_mappings"),
          nb::arg("reduction_factors") = Numbers(), nb::arg("need_replication_factors") = Numbers(),
          nb::arg("permutation_factors") = Numbers(), nb::arg("blocked_propagation_factors") = Numbers(),
          nb::arg("is_custom") = true, context)
      .def_property_readonly("factor_sizes", numbersOf(&OpShardingRuleAttr::getFactorSizes))
      .def_property_readonly("operand_mappings", listOf(&OpShardingRuleAttr::getOperandMappings))
      .def_property_readonly("result_mappings", listOf(&OpShardingRuleAttr::getResultMappings))
      .def_property_readonly("reduction_factors", numbersOf(&OpShardingRuleAttr::getReductionFactors))
      .def_property_readonly("need_replication_factors", numbersOf(&OpShardingRuleAttr::getNeedReplicationFactors))
      .def_property_readonly("permutation_factors", numbersOf(&OpShardingRuleAttr::getPermutationFactors))
      .def_property_readonly("blocked_propagation_factors",
                             numbersOf(&OpShardingRuleAttr::getBlockedPropagationFactors))
      .def_property_readonly("is_custom", valueOf(&OpShardingRuleAttr::getIsCustomRule));
}

NB_MODULE(_sdy, m) {
  m.doc() = "Attributes of the sdy dialect: meshes, shardings, and rules of how ops are sharded.";
  addMeshes(m);
  addShardings(m);
  addShardingRules(m);
}
