//===- Util.cpp - questions about IR, and translation ---------------------===//

#include "Attributes.h"

#include "ttmlir-c/Registration.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bindings/Python/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Location.h"

void ttmlir::python::populateUtil(nb::module_ &m) {
  m.def("is_name_loc", [](MlirLocation loc) { return llvm::isa<mlir::NameLoc>(unwrap(loc)); }, nb::arg("loc"));
  m.def(
      "get_loc_name",
      [](MlirLocation loc) -> std::optional<std::string> {
        if (auto name = llvm::dyn_cast<mlir::NameLoc>(unwrap(loc)))
          return name.getName().str();
        return std::nullopt;
      },
      nb::arg("loc"), "The name of a name location, or None.");
  m.def(
      "is_file_line_col_loc", [](MlirLocation loc) { return llvm::isa<mlir::FileLineColLoc>(unwrap(loc)); },
      nb::arg("loc"));
  m.def("is_fused_loc", [](MlirLocation loc) { return llvm::isa<mlir::FusedLoc>(unwrap(loc)); }, nb::arg("loc"));
  m.def(
      "elements_data",
      [](MlirAttribute attribute) {
        mlir::Attribute value = unwrap(attribute);
        if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(value)) {
          mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
          if (!blob)
            throw nb::value_error("the resource has no data; it was elided when the module was printed");
          return std::make_pair(nb::bytes(blob->getData().data(), blob->getData().size()), false);
        }
        auto dense = llvm::dyn_cast<mlir::DenseIntOrFPElementsAttr>(value);
        if (!dense)
          throw nb::type_error("expected dense elements or a dense resource");
        if (!dense.getElementType().isInteger(1))
          return std::make_pair(nb::bytes(dense.getRawData().data(), dense.getRawData().size()), dense.isSplat());
        // Booleans may be packed into bits; outside they are a byte each.
        std::string bytes;
        if (dense.isSplat())
          bytes.push_back(static_cast<char>(dense.getSplatValue<bool>()));
        else
          for (bool element : dense.getValues<bool>())
            bytes.push_back(static_cast<char>(element));
        return std::make_pair(nb::bytes(bytes.data(), bytes.size()), dense.isSplat());
      },
      nb::arg("attribute"),
      "The elements of a dense attribute or resource as row-major bytes, and whether they are a single one for all.");
  m.def(
      "element_type_to_data_type",
      [](MlirType type) {
        auto dataType = mlir::tt::ttcore::elementTypeToDataType(unwrap(type));
        if (!dataType)
          throw nb::value_error("no device data type holds this element type");
        return static_cast<uint32_t>(*dataType);
      },
      nb::arg("type"), "The value of ttcore.DataType that holds an element type on the device.");
  m.def(
      "lowering",
      [](const std::string &name, MlirContext context) -> std::optional<std::string> {
        std::string into;
        ttmlirOpLowering(
            mlirStringRefCreate(name.data(), name.size()), context,
            +[](MlirStringRef text, void *out) { static_cast<std::string *>(out)->assign(text.data, text.length); },
            &into);
        return into.empty() ? std::nullopt : std::optional(into);
      },
      nb::arg("name"), nb::arg("context").none() = nb::none(),
      "What the conversions make of an op of TTIR or StableHLO: an op's name, \"rule\" where it depends on the op, or "
      "None "
      "for an op that is not lowered.");
}

void ttmlir::python::populateTranslate(nb::module_ &m) {
  m.def(
      "ttnn_to_flatbuffer",
      [](MlirOperation module) {
        std::string bytes;
        mlir::python::CollectDiagnosticsToStringScope diagnostics(mlirOperationGetContext(module));
        MlirLogicalResult result = ttmlirTranslateToFlatbuffer(
            module,
            +[](MlirStringRef chunk, void *out) { static_cast<std::string *>(out)->append(chunk.data, chunk.length); },
            &bytes);
        std::string message = diagnostics.takeMessage();
        if (mlirLogicalResultIsFailure(result)) {
          nb::object error = mlir::python::irModule().attr("MLIRError")(message, nb::list());
          PyErr_SetObject(error.type().ptr(), error.ptr());
          throw nb::python_error();
        }
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("module"));
}
