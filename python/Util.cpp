//===- Util.cpp - IR utilities and translation ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Attributes.h"

#include "ttmlir-c/Registration.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/Bindings/Python/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

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
      "get_loc_full",
      [](MlirLocation loc) {
        std::string text;
        llvm::raw_string_ostream(text) << unwrap(loc);
        return text;
      },
      nb::arg("loc"), "A location as MLIR prints it.");
  m.def(
      "get_fused_locations",
      [](MlirLocation loc) {
        std::vector<MlirLocation> parts;
        if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(unwrap(loc)))
          for (mlir::Location part : fused.getLocations())
            parts.push_back(wrap(part));
        return parts;
      },
      nb::arg("loc"), "The parts of a fused location; none of another.");
  m.def(
      "is_dps", [](MlirOperation op) { return llvm::isa<mlir::DestinationStyleOpInterface>(unwrap(op)); },
      nb::arg("op"), "Whether an op writes into operands that are given for its results.");
  m.def(
      "source_path", [](MlirLocation loc) { return mlir::tt::ttcore::sourcePath(unwrap(loc)); }, nb::arg("loc"),
      "The number of the source op that an op came from: \"12\", \"3/12\" through call 3, or \"\" without one.");
  m.def(
      "without_source_number",
      [](MlirLocation loc) { return wrap(mlir::tt::ttcore::withoutSourceNumber(unwrap(loc))); }, nb::arg("loc"),
      "A location as it was before the ops of its module were numbered.");
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
        // Booleans may be packed into bits; outside, each is a byte.
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

using namespace ttmlir::python;

/// Raises MLIRError with the diagnostics of an action, if it failed.
template <class Action> static void checked(MlirOperation module, Action action) {
  mlir::python::CollectDiagnosticsToStringScope diagnostics(mlirOperationGetContext(module));
  MlirLogicalResult result = action();
  std::string message = diagnostics.takeMessage();
  if (mlirLogicalResultIsSuccess(result))
    return;
  nb::object error = mlir::python::irModule().attr("MLIRError")(message, nb::list());
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

namespace {
/// Passes the written bytes to Python without a copy: weights are large.
struct Sink {
  nb::callable write;
  std::exception_ptr error; // which must not pass through MLIR

  static void take(MlirStringRef chunk, void *self) {
    auto &sink = *static_cast<Sink *>(self);
    if (sink.error)
      return;
    try {
      auto size = static_cast<Py_ssize_t>(chunk.length);
      nb::object view = nb::steal(PyMemoryView_FromMemory(const_cast<char *>(chunk.data), size, PyBUF_READ));
      if (!view.is_valid())
        throw nb::python_error();
      sink.write(view);
    } catch (...) {
      sink.error = std::current_exception();
    }
  }
};
} // namespace

/// The text that `translate(callback, userData)` writes.
template <class Translate> static std::string translated(MlirOperation module, Translate translate) {
  std::string bytes;
  auto append = [](MlirStringRef chunk, void *out) {
    static_cast<std::string *>(out)->append(chunk.data, chunk.length);
  };
  checked(module, [&] { return translate(append, &bytes); });
  return bytes;
}

/// Defines a function that writes a flatbuffer.
template <auto translate> static void defineFlatbuffer(nb::module_ &m, const char *name) {
  m.def(
      name,
      [](MlirOperation module, nb::callable write) {
        Sink sink{std::move(write), nullptr};
        checked(module, [&] { return translate(module, Sink::take, &sink); });
        if (sink.error)
          std::rethrow_exception(sink.error);
      },
      nb::arg("module"), nb::arg("write"),
      "Calls write(chunk) with views of the bytes, in order: each is good for that call only.");
}

namespace {
class ModuleLog {
public:
  void attach(MlirContext context, std::vector<std::string> passes) {
    state->passes = std::move(passes);
    ttmlirLogModules(
        context,
        [](MlirStringRef pass, MlirStringRef module, void *data) {
          State &state = **static_cast<std::shared_ptr<State> *>(data);
          std::string name(pass.data, pass.length);
          if (state.passes.empty() || llvm::is_contained(state.passes, name))
            state.log.emplace_back(std::move(name), std::string(module.data, module.length));
        },
        [](void *data) { delete static_cast<std::shared_ptr<State> *>(data); }, new std::shared_ptr<State>(state));
  }
  const auto &log() const { return state->log; }

private:
  struct State {
    std::vector<std::string> passes; // empty: all
    std::vector<std::pair<std::string, std::string>> log;
  };
  // A context may outlive the log, and the log a context.
  std::shared_ptr<State> state = std::make_shared<State>();
};
} // namespace

void ttmlir::python::populateTranslate(nb::module_ &m) {
  defineFlatbuffer<ttmlirTranslateToFlatbuffer>(m, "ttnn_to_flatbuffer");
  defineFlatbuffer<ttmlirTranslateTTMetalToFlatbuffer>(m, "ttmetal_to_flatbuffer");
  m.def(
      "open_sizes",
      [](const std::vector<nb::bytes> &files, const std::vector<std::string> &names,
         const std::vector<std::pair<int64_t, int64_t>> &bounds, const std::vector<std::vector<int64_t>> &points) {
        std::vector<MlirStringRef> given, called;
        for (const nb::bytes &file : files)
          given.push_back(mlirStringRefCreate(file.c_str(), file.size()));
        for (const std::string &name : names)
          called.push_back(mlirStringRefCreate(name.data(), name.size()));
        std::vector<int64_t> limits, values;
        for (const auto &[least, most] : bounds)
          limits.insert(limits.end(), {least, most});
        for (const std::vector<int64_t> &point : points) {
          if (point.size() != names.size())
            throw nb::value_error("a point has another number of values than there are sizes");
          values.insert(values.end(), point.begin(), point.end());
        }
        if (files.size() != points.size() || names.size() != bounds.size())
          throw nb::value_error("expected a point for each file, and bounds for each size");
        struct Collected {
          std::string data;
          std::vector<std::tuple<int64_t, bool, std::string>> quotients;
          intptr_t searches = 0;
        } made;
        const auto append = [](MlirStringRef part, void *to) {
          static_cast<Collected *>(to)->data.append(part.data, part.length);
        };
        const auto note = [](int64_t period, bool isKnown, MlirStringRef place, void *to) {
          static_cast<Collected *>(to)->quotients.emplace_back(period, isKnown, std::string(place.data, place.length));
        };
        const bool failed = mlirLogicalResultIsFailure(
            ttmlirOpenSizes(static_cast<intptr_t>(files.size()), given.data(), static_cast<intptr_t>(names.size()),
                            called.data(), limits.data(), values.data(), append, note, &made.searches, &made));
        if (failed)
          throw nb::value_error(made.data.c_str());
        return nb::make_tuple(nb::bytes(made.data.data(), made.data.size()), made.quotients, made.searches);
      },
      nb::arg("files"), nb::arg("names"), nb::arg("bounds"), nb::arg("points"),
      "One flatbuffer of those of a program for each point, and its quotients of sizes: their periods, whether these "
      "are known, and places; then for how many numbers an expression was looked for. Raises ValueError where sizes "
      "cannot "
      "stay open.");
  m.def(
      "ttkernel_to_cpp",
      [](MlirOperation module) {
        return translated(module, [&](MlirStringCallback callback, void *userData) {
          return ttmlirTranslateKernelsToCpp(module, callback, userData);
        });
      },
      nb::arg("module"));
  nb::class_<ModuleLog>(m, "MLIRModuleLogger", "The module as each pass of a context left it.")
      .def(nb::init<>())
      .def(
          "attach_context",
          [](ModuleLog &self, MlirContext ctx, std::vector<std::string> passes) {
            self.attach(ctx, std::move(passes));
          },
          nb::arg("ctx"), nb::arg("passnames_to_cache") = std::vector<std::string>(),
          "Records from now on behind the passes named (all, if none is), which then run on one thread.")
      .def_prop_ro("module_log", &ModuleLog::log, "(pass, module) in the order in which passes ran.");
  const auto append = [](MlirStringRef text, void *to) {
    static_cast<std::string *>(to)->append(text.data, text.length);
  };
  m.def(
      "describe_pipelines",
      [append] {
        std::string text;
        ttmlirDescribePipelines(append, &text);
        return text;
      },
      "The registered pipelines and their options, as JSON.");
  m.def(
      "check_pipeline_option",
      [append](const std::string &pipeline, const std::string &name, const std::string &value) {
        const auto view = [](const std::string &text) { return mlirStringRefCreate(text.data(), text.size()); };
        std::string text;
        const bool taken = ttmlirCheckPipelineOption(view(pipeline), view(name), view(value), append, &text);
        return std::make_pair(taken, text);
      },
      nb::arg("pipeline"), nb::arg("name"), nb::arg("value"),
      "Whether a pipeline takes a value of an option, and its canonical form or the reason why not.");
  m.def(
      "framework_options",
      [] {
        const MlirStringRef text = ttmlirFrameworkOptions();
        return std::string(text.data, text.length);
      },
      "What the front ends of PyTorch and JAX set unless the user does.");
  m.def(
      "mlir_to_cpp",
      [](MlirOperation module) {
        return translated(module, [&](MlirStringCallback callback, void *userData) {
          return ttmlirTranslateToCpp(module, callback, userData);
        });
      },
      nb::arg("module"));
  m.def(
      "mlir_to_python",
      [](MlirOperation module, const std::string &file) {
        return translated(module, [&](MlirStringCallback callback, void *userData) {
          return ttmlirTranslateToPython(module, mlirStringRefCreate(file.data(), file.size()), callback, userData);
        });
      },
      nb::arg("module"), nb::arg("file") = "");
  m.def(
      "write_tensor_files",
      [](MlirOperation module, const std::string &folder) {
        checked(module,
                [&] { return ttmlirWriteTensorFiles(module, mlirStringRefCreate(folder.data(), folder.size())); });
      },
      nb::arg("module"), nb::arg("folder"));
}
