//===- Main.cpp - the Python module _ttmlir_runtime -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "tt/range_error.h"

#include <new>
#include <stdexcept>

using namespace tt;

NB_MODULE(_ttmlir_runtime, module) {
  module.doc() = "Runs TTNN flatbuffers on a simulated mesh of chips.";
  // What PyTorch keeps of compiled functions until the interpreter ends holds programs and a device: no leak.
  nb::set_leak_warnings(false);

  // The most special exception is registered last: the translators are asked in the reverse order.
  const auto error = nb::exception<Error>(module, "Error", PyExc_RuntimeError);
  nb::exception<DeviceError>(module, "DeviceError", error);
  nb::exception<OutOfMemoryError>(module, "OutOfMemoryError", error);
  nb::exception<OpError>(module, "OpError", error);
  nb::exception<BinaryError>(module, "BinaryError", error);
  nb::exception<RangeError>(module, "RangeError", nb::make_tuple(module.attr("OpError"), nb::handle(PyExc_ValueError)));
  // What is left of sizes that nothing holds, and of values that nothing converts.
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
      PyErr_SetString(PyExc_MemoryError, "out of host memory: the arguments ask for more than there is");
    } catch (const std::length_error &) {
      PyErr_SetString(PyExc_MemoryError, "out of host memory: the arguments ask for more than can be counted");
    } catch (const nb::cast_error &) {
      PyErr_SetString(PyExc_TypeError, "a value has another type than its place takes");
    }
  });

  // Binaries come first: the signatures of the others name them.
  nb::module_ binary = module.def_submodule("binary", "Flatbuffers: load, look into, store.");
  nb::module_ runtime = module.def_submodule("runtime", "Devices, tensors, running programs, hooks.");
  nb::module_ utils = module.def_submodule("utils", "Device memory by hand.");
  nb::module_ arithmetic = module.def_submodule("arithmetic", "What the chip's units make of f32 values, bit for bit.");
  nb::module_ ttnn = module.def_submodule("ttnn", "What the package ttnn is made of.");
  python::bindTypes(runtime);
  python::bindTtnnTypes(ttnn);
  python::bindBinary(binary);
  python::bindDevice(runtime);
  python::bindSystem(runtime, binary);
  python::bindTensor(runtime, ttnn);
  python::bindTtnnFunctions(ttnn);
  python::bindHooks(runtime);
  python::bindPublished(runtime);
  python::bindReports(runtime);
  python::bindUtils(utils);
  python::bindArithmetic(arithmetic);
  python::bindPrograms(runtime);

  // Python objects in the hooks must not outlive the interpreter.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { runtime::clearHooks(); }));
}
