//===- Registration.cpp - registration for the Python bindings ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir-c/Registration.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"

namespace nb = nanobind;

NB_MODULE(_site_initialize_0, m) {
  m.doc() = "Registers the TT dialects with every context, and the TT passes with every pass manager.";
  ttmlirRegisterAllPasses();
  m.def(
      "register_dialects", [](MlirDialectRegistry registry) { ttmlirRegisterAllDialects(registry); },
      nb::arg("registry"));
  // A context loads a dialect when text, bytecode, a pass or a new op needs it: loading all of them takes longer than
  // to compile a small module. Attributes and types that have Python classes are created without any of these.
  m.attr("disable_load_all_available_dialects") = true;
  m.def(
      "context_init_hook",
      [](MlirContext context) {
        for (const char *dialect : {"ttcore", "ttnn", "sdy", "quant"})
          mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString(dialect));
      },
      nb::arg("context"));
}
