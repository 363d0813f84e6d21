//===- Main.cpp - the extension behind ttmlir.dialects, util and passes ---===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

NB_MODULE(_ttmlir, m) {
  using namespace ttmlir::python;
  m.doc() = "Attributes and types of the TT dialects, and translation.";
  auto add = [&](const char *name, void (*populate)(nb::module_ &)) {
    nb::module_ submodule = m.def_submodule(name);
    populate(submodule);
  };
  add("ttcore_ir", populateTTCore);
  add("ttnn_ir", populateTTNN);
  nb::module_ ttnn = nb::borrow<nb::module_>(m.attr("ttnn_ir"));
  populateTTNNMemory(ttnn);
  add("stablehlo_ir", populateStableHLO);
  add("util", populateUtil);
  add("translate", populateTranslate);
}
