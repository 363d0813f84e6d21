//===- Main.cpp - the Python module _ttmlir_runtime -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "tt/range_error.h"

#include <new>
#include <stdexcept>

using namespace tt;

/// An exception of Python for one of C++. nb::exception reads messages as UTF-8, which names in damaged files may not
/// be.
template <class E> static nb::object addError(nb::module_ &module, const char *name, nb::handle bases) {
  const std::string whole = nb::cast<std::string>(module.attr("__name__")) + "." + name;
  nb::object type = nb::steal(PyErr_NewException(whole.c_str(), bases.ptr(), nullptr));
  if (!type)
    nb::raise_python_error();
  module.attr(name) = type;
  nb::register_exception_translator(
      [](const std::exception_ptr &thrown, void *type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const E &error) {
          const std::string_view text = error.what();
          const nb::object message =
              nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
          PyErr_SetObject(static_cast<PyObject *>(type), message.ptr());
        }
      },
      type.ptr());
  return type;
}

NB_MODULE(_ttmlir_runtime, module) {
  module.doc() = "Runs TTNN flatbuffers on a simulated mesh of chips.";
  // PyTorch keeps compiled functions, with programs and a device, until the interpreter ends: this is not a leak.
  nb::set_leak_warnings(false);

  // The most specific exception is registered last: the translators are tried in reverse order.
  const nb::object error = addError<Error>(module, "Error", PyExc_RuntimeError);
  addError<DeviceError>(module, "DeviceError", error);
  addError<OutOfMemoryError>(module, "OutOfMemoryError", error);
  addError<OpError>(module, "OpError", error);
  addError<BinaryError>(module, "BinaryError", error);
  addError<RangeError>(module, "RangeError", nb::make_tuple(module.attr("OpError"), nb::handle(PyExc_ValueError)));
  // The rest of sizes that nothing holds, and of values that nothing converts.
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
  nb::module_ metal = module.def_submodule("metal", "Kernels written by hand, on simulated cores.");
  nb::module_ ttnn = module.def_submodule("ttnn", "The native part of the package ttnn.");
  python::bindTypes(runtime);
  python::bindTtnnTypes(ttnn);
  python::bindBinary(binary);
  python::bindDevice(runtime);
  python::bindSystem(runtime, binary);
  python::bindTensor(runtime, ttnn);
  python::bindTtnnFunctions(ttnn);
  python::bindTtnnTraces(ttnn);
  python::bindHooks(runtime);
  python::bindArrays(runtime);
  python::bindPublished(runtime);
  python::bindReports(runtime);
  python::bindUtils(utils);
  python::bindArithmetic(arithmetic);
  python::bindPrograms(runtime);
  python::bindKernels(metal);

  // Python objects in the hooks must not outlive the interpreter.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { runtime::clearHooks(); }));
}
