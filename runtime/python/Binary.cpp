//===- Binary.cpp - flatbuffers for Python --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tt::python {

using runtime::Binary;

void bindBinary(nb::module_ &module) {
  nb::class_<Binary>(module, "Binary", "A TTNN or TTMetal flatbuffer that was checked when it was loaded.")
      .def_prop_ro("id", &Binary::id, "A number of its own in this process.")
      .def_prop_ro("version", &Binary::version, "Of the compiler that wrote it.")
      .def_prop_ro("schema_version", &Binary::schemaVersion)
      .def_prop_ro("schema_hash", [](const Binary &self) { return std::to_string(self.schemaVersion()); })
      .def_prop_ro("ttmlir_git_hash", [](const Binary &) { return std::string("unknown"); })
      .def_prop_ro("file_identifier", &Binary::identifier, "\"TTNN\" or \"TTM0\".")
      .def_prop_ro("file_name", &Binary::fileName)
      .def(
          "check_schema_hash", [](const Binary &) { return true; }, "True: another schema is refused at load.")
      .def("get_num_programs", [](const Binary &self) { return self.programs().size(); })
      .def(
          "get_program_name",
          [](const Binary &self, IndexArgument index) { return self.program(programIndex(index)).name; },
          nb::arg("program_index"))
      .def(
          "is_program_private",
          [](const Binary &self, IndexArgument index) { return self.program(programIndex(index)).isPrivate; },
          nb::arg("program_index"))
      .def(
          "get_program_mesh_shape",
          [](const Binary &self, IndexArgument index) {
            const auto &mesh = self.program(programIndex(index)).meshShape;
            return std::pair(mesh[0], mesh[1]);
          },
          nb::arg("program_index"))
      .def_prop_ro(
          "open_sizes",
          [](const Binary &self) {
            nb::list sizes;
            for (const auto &[name, least, most, written] : self.openSizes())
              sizes.append(nb::make_tuple(name, least, most));
            return sizes;
          },
          "(name, least, most) of the sizes that programs leave open.")
      .def(
          "bound",
          [](const Binary &self, IndexArgument index, const std::vector<Shape> &shapes) {
            return self.bound(programIndex(index), shapes);
          },
          nb::arg("program_index"), nb::arg("shapes"),
          "The binary for inputs of these shapes, of each device; itself where no size is open.")
      .def(
          "bound_to",
          [](const Binary &self, IndexArgument index, const std::map<std::string, int64_t> &sizes) {
            return self.boundTo(programIndex(index),
                                std::vector<std::pair<std::string, int64_t>>(sizes.begin(), sizes.end()));
          },
          nb::arg("program_index"), nb::arg("sizes"),
          "The binary for values of its open sizes, by name; others keep those that the file is written for.")
      .def(
          "require_same",
          [](const Binary &self, const Binary &other, IndexArgument index) {
            self.requireSame(other, programIndex(index));
          },
          nb::arg("other"), nb::arg("program_index"),
          "Raises Error unless a program, for the sizes that it has in `other`, is the same as there.")
      .def(
          "get_program_inputs_as_json",
          [](const Binary &self, IndexArgument index) { return self.inputsAsJson(programIndex(index)); },
          nb::arg("program_index"))
      .def(
          "get_program_outputs_as_json",
          [](const Binary &self, IndexArgument index) { return self.outputsAsJson(programIndex(index)); },
          nb::arg("program_index"))
      .def(
          "get_program_ops_as_json",
          [](const Binary &self, IndexArgument index) { return self.operationsAsJson(programIndex(index)); },
          nb::arg("program_index"))
      .def(
          "get_kernel_sources",
          [](const Binary &self) {
            nb::dict sources;
            for (const auto &[symbol, source] : self.kernelSources())
              sources[nb::cast(symbol)] = source;
            return sources;
          },
          nb::sig("def get_kernel_sources(self) -> dict[str, str]"),
          "C++ of the kernels of a TTMetal program by symbol, or of those in TTNN programs by their op; sources that "
          "differ under one symbol are numbered.")
      .def("get_system_desc_as_json", &Binary::systemDescAsJson)
      .def("get_mlir_as_json", &Binary::mlirAsJson)
      .def(
          "get_mlir",
          [](const Binary &self) {
            const std::string_view text = self.mlir();
            PyObject *decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
            if (!decoded) {
              PyErr_Clear();
              throw BinaryError(self.fileName() + ": the text of its module is not UTF-8; the file is damaged");
            }
            return nb::steal<nb::str>(decoded);
          },
          "The module as text; raises BinaryError where it is no text.")
      .def_prop_ro(
          "has_native", &Binary::hasNative,
          "Whether it has kernels in C++ or machine code for the host, which run only where they are allowed to.")
      .def("allow_native", &Binary::allowNative,
           "Lets the code of this file (kernels in C++, machine code) run in this process, where it can do whatever "
           "the process may.")
      .def("as_json", &Binary::asJson, "Everything but the values of constants.")
      .def("as_bytes", [](const Binary &self) { return nb::bytes(self.bytes().data(), self.bytes().size()); })
      .def(
          "store", [](const Binary &self, const std::filesystem::path &path) { self.store(path.string()); },
          nb::arg("path"))
      .def(
          "__eq__", [](const Binary &self, const Binary &other) { return self == other; }, nb::is_operator())
      .def("__hash__", &Binary::id)
      .def("__repr__", [](const Binary &self) {
        return "<Binary " + self.fileName() + ": " + std::to_string(self.programs().size()) + " programs>";
      });

  module.attr("Flatbuffer") = module.attr("Binary");

  const auto allowed = [](Binary binary, bool allowNative) {
    if (allowNative)
      binary.allowNative();
    return binary;
  };
  const auto load = [allowed](const std::filesystem::path &path, bool allowNative) {
    return allowed(Binary::load(path.string()), allowNative);
  };
  const auto loadBytes = [allowed](nb::bytes data, bool allowNative) {
    return allowed(Binary::load({static_cast<const std::byte *>(data.data()), data.size()}), allowNative);
  };
  for (const char *name : {"load_from_path", "load_binary_from_path"})
    module.def(name, load, nb::arg("path"), nb::arg("allow_native") = false,
               "Reads and checks a .ttnn or .ttm file; raises BinaryError. `allow_native`: see Binary.allow_native.");
  for (const char *name : {"load_from_bytes", "load_binary_from_bytes"})
    module.def(name, loadBytes, nb::arg("data"), nb::arg("allow_native") = false,
               "Checks a flatbuffer in memory; raises BinaryError. `allow_native`: see Binary.allow_native.");
  // The result of ttnn_to_flatbuffer_bin, which is bytes here.
  module.def("load_binary_from_capsule", loadBytes, nb::arg("capsule"), nb::arg("allow_native") = false,
             "Checks what ttnn_to_flatbuffer_bin or ttmetal_to_flatbuffer_bin gave; raises BinaryError. "
             "`allow_native`: see Binary.allow_native.");
}

} // namespace tt::python
