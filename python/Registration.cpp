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
}
