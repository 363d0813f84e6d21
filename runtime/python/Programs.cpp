//===- Programs.cpp - libraries of compiled programs for Python -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "Interrupts.h"

#include "ttnn/program.hpp"

#include <dlfcn.h>

using namespace tt;

namespace {

/// A shared library of emitted C++. It stays loaded as long as one of its programs is in use.
class ProgramLibrary {
public:
  explicit ProgramLibrary(const std::string &path) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw Error(path + " cannot be loaded: " + dlerror());
    using Entry = const std::vector<::tt::ttnn::Program> *(*)(int);
    // NOLINTNEXTLINE: there is no other way to a function
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, "ttnn_programs"));
    list = entry ? entry(TTNN_PROGRAMS_VERSION) : nullptr;
    if (!list) {
      dlclose(handle);
      throw Error(path + (entry ? " was compiled for another version of this library"
                                : " offers no programs: it has no TTNN_PROGRAM"));
    }
  }
  ProgramLibrary(const ProgramLibrary &) = delete;
  ProgramLibrary &operator=(const ProgramLibrary &) = delete;
  ~ProgramLibrary() { dlclose(handle); }
  const std::vector<::tt::ttnn::Program> &programs() const { return *list; }
  /// Throws Error naming the programs there are.
  const ::tt::ttnn::Program &program(const std::string &name) const {
    std::string names;
    for (const ::tt::ttnn::Program &each : *list) {
      if (each.name == name)
        return each;
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    throw Error("the library has no program \"" + name + "\"; it has " + names);
  }
  /// Rows and columns.
  std::pair<uint32_t, uint32_t> mesh() const {
    using Entry = const uint32_t *(*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, "ttnn_mesh"));
    return entry ? std::pair(entry()[0], entry()[1]) : std::pair(1u, 1u);
  }

private:
  void *handle = nullptr;
  const std::vector<::tt::ttnn::Program> *list = nullptr;
};

} // namespace

void python::bindPrograms(nb::module_ &module) {
  using ::tt::ttnn::Program;
  nb::class_<Program>(module, "Program", "A function of tensors in a library of compiled programs.")
      .def_ro("name", &Program::name)
      .def_prop_ro(
          "num_inputs",
          [](const Program &self) {
            return self.inputs == ::tt::ttnn::anyNumber ? std::nullopt : std::optional(self.inputs);
          },
          "Tensors that the program takes; None for one that takes a list.")
      .def(
          "create_inputs",
          [](const Program &self, const ::tt::ttnn::Device &device) {
            return interruptibly([&] { return self.createInputs(device); });
          },
          nb::arg("device"), "Inputs as the program makes them for itself.")
      .def(
          "run",
          [](const Program &self, const std::vector<::tt::ttnn::Tensor> &inputs, const ::tt::ttnn::Device &device) {
            return interruptibly([&] { return self.run(inputs, device); });
          },
          nb::arg("inputs"), nb::arg("device"), "What the program returns for these inputs.");
  nb::class_<ProgramLibrary>(module, "ProgramLibrary", "Programs of emitted C++, compiled to a shared library.")
      .def(nb::init<const std::string &>(), nb::arg("path"))
      .def_prop_ro("programs", &ProgramLibrary::programs, nb::rv_policy::reference_internal)
      .def_prop_ro("mesh_shape", &ProgramLibrary::mesh, "Rows and columns of the mesh that the programs are for.");

  // The names by which tests of the ecosystem run such libraries.
  nb::module_ test = nb::borrow<nb::module_>(module.attr("test"));
  test.def(
      "open_so", [](const std::string &path) { return std::make_shared<ProgramLibrary>(path); }, nb::arg("path"),
      "The library of programs at a path.");
  test.def(
      "close_so", [](const std::shared_ptr<ProgramLibrary> &) {}, nb::arg("handle"),
      "It is closed with the last reference to it.");
  test.def(
      "get_so_programs",
      [](const ProgramLibrary &library, const std::string &) {
        std::vector<std::string> names;
        for (const Program &program : library.programs())
          names.push_back(program.name);
        return names;
      },
      nb::arg("so"), nb::arg("path"), "The names of a library's programs.");
  test.def(
      "create_inputs",
      [](const ProgramLibrary &library, const std::string &name, const ::tt::ttnn::Device &device,
         const std::string &) { return interruptibly([&] { return library.program(name).createInputs(device); }); },
      nb::arg("so"), nb::arg("func_name"), nb::arg("device"), nb::arg("path"), "Inputs as a program makes them.");
  test.def(
      "run_so_program",
      [](const ProgramLibrary &library, const std::string &name, const std::vector<::tt::ttnn::Tensor> &inputs,
         const ::tt::ttnn::Device &device) {
        return interruptibly([&] { return library.program(name).run(inputs, device); });
      },
      nb::arg("so"), nb::arg("func_name"), nb::arg("inputs"), nb::arg("device"), "What a program returns.");
}
