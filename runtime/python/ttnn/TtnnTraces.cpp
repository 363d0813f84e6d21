//===- TtnnTraces.cpp - recorded calls for Python -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnBindings.h"
#include "tt/ttnn/trace.h"

namespace tt::python {

using ttnn::Tensor;
using ttnn::Trace;

void bindTtnnTraces(nb::module_ &module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Trace>(module, "MeshTraceId", "Recorded calls of a device; they are kept as long as this is.")
      .def("__len__", &Trace::calls);
  module.def("begin_trace", [](const runtime::Device &device) { return Trace::begin(device); }, nb::arg("device"));
  module.def(
      "records_trace", [](const runtime::Device &device) { return Trace::recordsOn(device); }, nb::arg("device"));
  module.def(
      "end_trace", [](const runtime::Device &device, Trace &trace) { trace.end(device); }, nb::arg("device"),
      nb::arg("trace"));
  module.def(
      "execute_trace", [](const runtime::Device &device, Trace &trace) { trace.execute(device); }, nb::arg("device"),
      nb::arg("trace"), Unlocked());
  module.def(
      "release_trace", [](const runtime::Device &device, Trace &trace) { trace.release(device); }, nb::arg("device"),
      nb::arg("trace"), Unlocked());
  module.def(
      "copy_values",
      [](const Tensor &from, const Tensor &to, const std::string &function) { ttnn::copyValues(from, to, function); },
      nb::arg("source"), nb::arg("target"), nb::arg("function"), Unlocked(),
      "Writes the values of a tensor to another one; errors name the function.");
}

} // namespace tt::python
