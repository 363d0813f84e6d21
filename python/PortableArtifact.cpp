//===- PortableArtifact.cpp - portable artefacts --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir-c/Registration.h"

#include "mlir/Bindings/Python/Diagnostics.h"

using namespace ttmlir::python;

/// Raises MLIRError with what was reported.
[[noreturn]] static void raise(mlir::python::CollectDiagnosticsToStringScope &diagnostics) {
  // A damaged file may have names that are not text.
  std::string message = diagnostics.takeMessage();
  nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  nb::object error = mlir::python::irModule().attr("MLIRError")(text, nb::list());
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

static void append(MlirStringRef chunk, void *text) {
  static_cast<std::string *>(text)->append(chunk.data, chunk.length);
}

static std::string version(bool newest) {
  std::string text;
  ttmlirPortableArtifactVersion(newest, append, &text);
  return text;
}

static MlirStringRef view(const nb::bytes &bytes) { return mlirStringRefCreate(bytes.c_str(), bytes.size()); }

void ttmlir::python::populateStableHLO(nb::module_ &m) {
  m.def(
      "deserialize_portable_artifact",
      [](MlirContext context, const nb::bytes &artifact) {
        mlir::python::CollectDiagnosticsToStringScope diagnostics(context);
        MlirModule module = ttmlirDeserializePortableArtifact(context, view(artifact));
        if (mlirModuleIsNull(module))
          raise(diagnostics);
        diagnostics.takeMessage().clear(); // warnings
        return module;
      },
      nb::arg("context"), nb::arg("artifact"),
      "The StableHLO module of a portable artifact of any version from the minimum to the current one.");
  m.def(
      "serialize_portable_artifact",
      [](MlirModule module, const std::string &target) {
        mlir::python::CollectDiagnosticsToStringScope diagnostics(mlirModuleGetContext(module));
        std::string bytes;
        MlirLogicalResult result =
            ttmlirSerializePortableArtifact(module, mlirStringRefCreate(target.data(), target.size()), append, &bytes);
        if (mlirLogicalResultIsFailure(result))
          raise(diagnostics);
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("module"), nb::arg("target"), "The portable artifact of a StableHLO module, in a version such as 1.0.0.");
  m.def(
      "is_portable_artifact", [](const nb::bytes &artifact) { return ttmlirIsPortableArtifact(view(artifact)); },
      nb::arg("artifact"), "Whether bytes begin as those of a portable artifact.");
  m.def("get_current_version", [] { return version(/*newest=*/true); }, "The newest version that is read and written.");
  m.def(
      "get_minimum_version", [] { return version(/*newest=*/false); }, "The oldest version that is read and written.");
}
