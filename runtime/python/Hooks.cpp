//===- Hooks.cpp - execution and debug hooks for Python -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "Interrupts.h"

#include <nanobind/stl/unordered_map.h>

namespace tt::python {
namespace {

using runtime::OpContext;
using runtime::ProgramContext;
using runtime::ProgramContextPtr;
using runtime::TensorRef;
using ttnn::Tensor;

/// A Python callable that is called, copied and destroyed in threads without the interpreter's lock.
class Callable {
public:
  explicit Callable(nb::callable function)
      : function(new nb::callable(std::move(function)), [](nb::callable *object) {
          nb::gil_scoped_acquire lock;
          delete object;
        }) {}
  void operator()(const ProgramContextPtr &program, const OpContext &op) const {
    nb::gil_scoped_acquire lock;
    (*function)(op.binary, program, op);
  }
  void operator()(const ProgramContextPtr &program) const {
    nb::gil_scoped_acquire lock;
    (*function)(program->binary(), program);
  }

private:
  std::shared_ptr<nb::callable> function;
};

/// The result of DebugHooks.get; the hooks themselves belong to the runtime.
struct DebugHooks {
  bool preOp, postOp, preProgram, postProgram;
};

DebugHooks setHooks(std::optional<nb::callable> preOp, std::optional<nb::callable> postOp,
                    std::optional<nb::callable> preProgram, std::optional<nb::callable> postProgram) {
  const DebugHooks which{preOp.has_value(), postOp.has_value(), preProgram.has_value(), postProgram.has_value()};
  runtime::Hooks hooks;
  if (preOp)
    hooks.beforeOp = Callable(std::move(*preOp));
  if (postOp)
    hooks.afterOp = Callable(std::move(*postOp));
  if (preProgram)
    hooks.beforeProgram = Callable(std::move(*preProgram));
  if (postProgram)
    hooks.afterProgram = Callable(std::move(*postProgram));
  nb::gil_scoped_release unlocked; // old hooks may go, and take the lock for it
  if (which.preOp || which.postOp || which.preProgram || which.postProgram)
    runtime::setHooks(std::move(hooks));
  else
    runtime::clearHooks();
  return which;
}

} // namespace

void bindHooks(nb::module_ &module) {
  nb::class_<OpContext>(module, "OpContext", "An op of a program that is being run.")
      .def_prop_ro(
          "index", [](const OpContext &self) { return self.index; }, "Its place in the program.")
      .def_prop_ro("name", [](const OpContext &self) { return self.operation().info->name; }, "\"ttnn.add\"");
  nb::class_<ProgramContext>(module, "CallbackContext", "A program that is being run.")
      .def_prop_ro("binary", &ProgramContext::binary)
      .def_prop_ro("device", &ProgramContext::device)
      .def(
          "circular_buffer_bytes",
          [](const ProgramContext &self, const OpContext &op) { return self.circularBytes(op.index); },
          nb::arg("op_context"), "Bytes of the circular buffers of the op's kernels, on each core.");
  nb::class_<TensorRef>(module, "TensorRef", "A value of a program.")
      .def("get_shape", [](const TensorRef &self) { return self.spec().shape; })
      .def("get_dtype", [](const TensorRef &self) { return hostType(self.spec().dtype); })
      .def_prop_ro("value", [](const TensorRef &self) { return self.value; }, "Its number in the program.");

  nb::class_<DebugHooks>(module, "DebugHooks", "Functions that are called around every op and program.")
      .def_static("get", &setHooks, nb::arg("pre_op") = nb::none(), nb::arg("post_op") = nb::none(),
                  nb::arg("pre_program") = nb::none(), nb::arg("post_program") = nb::none(),
                  "Sets the hooks for all runs to come. pre_op and post_op are called as hook(binary, program_context, "
                  "op_context), pre_program and post_program as hook(binary, program_context). An exception in a hook "
                  "ends the run and leaves submit().")
      .def("__str__", [](const DebugHooks &self) {
        const auto state = [](bool set) { return set ? "set" : "not set"; };
        return std::string("DebugHooks(pre_op ") + state(self.preOp) + ", post_op " + state(self.postOp) +
               ", pre_program " + state(self.preProgram) + ", post_program " + state(self.postProgram) + ")";
      });
  module.def("unregister_hooks", &runtime::clearHooks, nb::call_guard<nb::gil_scoped_release>());

  module.def(
      "submit",
      [](const runtime::Device &device, const runtime::Binary &binary, IndexArgument program,
         const runtime::Tensors &inputs, std::optional<uint64_t> maxLoopIterations) {
        const size_t index = programIndex(program);
        runtime::RunOptions options;
        if (maxLoopIterations)
          options.maxLoopIterations = *maxLoopIterations;
        return interruptibly([&] { return runtime::submit(device, binary, index, inputs, options); });
      },
      nb::arg("device"), nb::arg("executable"), nb::arg("program_index"), nb::arg("inputs"),
      nb::arg("max_loop_iterations") = nb::none(),
      "Runs a program and returns its outputs. Inputs have the program's shapes and data types, and lie on the "
      "host or on the device. In the main thread, handlers of signals are called between ops: Ctrl-C ends the run. "
      "max_loop_iterations limits the iterations of all loops together.");
  // One overload for each name that callers use for the awaited object.
  for (const char *what : {"tensors", "tensor", "event"})
    module.def(
        "wait", [](nb::handle, std::optional<uint8_t>) {}, nb::arg(what), nb::arg("cq_id") = nb::none(),
        "Returns at once: submit() returns when all is done.");

  module.def(
      "get_op_debug_str", [](const OpContext &op) { return op.operation().debug; }, nb::arg("op_context"),
      "The op as MLIR prints it.");
  module.def(
      "get_op_loc_info", [](const OpContext &op) { return op.operation().loc; }, nb::arg("op_context"),
      "The op's location.");
  module.def(
      "get_op_source", [](const OpContext &op) { return op.operation().source; }, nb::arg("op_context"),
      "Number of the op of the source module that this came from; empty for ops that the compiler added.");
  module.def(
      "get_op_name", [](const OpContext &op) { return op.operation().info->name; }, nb::arg("op_context"),
      "\"ttnn.add\"");
  module.def(
      "get_program_index", [](const ProgramContext &context) { return context.program(); },
      nb::arg("program_context_handle"));
  module.def("get_op_output_refs", &runtime::opOutputs, nb::arg("op_context_handle"));
  module.def("get_op_input_refs", &runtime::opInputs, nb::arg("op_context_handle"));
  module.def(
      "get_op_output_tensor",
      [](const OpContext &op, const ProgramContext &context) {
        std::unordered_map<uint32_t, Tensor> result;
        const auto outputs = runtime::opOutputs(op);
        if (outputs.empty())
          return result;
        if (const auto tensor = context.read(outputs[0].value))
          for (uint32_t i = 0; i < tensor->shards(); ++i)
            result.emplace(i, runtime::toHost(tensor->shard(i))[0]);
        return result;
      },
      nb::arg("op_context"), nb::arg("program_context"),
      "The first result of an op on the host, by number of the device; empty when it is not there (yet).");
  module.def(
      "retrieve_tensor_from_pool",
      [](const ProgramContext &context, const TensorRef &ref, bool untilize) -> std::optional<Tensor> {
        auto tensor = context.read(ref.value);
        if (tensor && untilize && tensor->shards() == 1)
          tensor = runtime::toHost(*tensor)[0];
        return tensor;
      },
      nb::arg("program_context_handle"), nb::arg("tensor_ref"), nb::arg("untilize") = true,
      "A copy of a value on the host; None when it is not alive.");
  module.def(
      "update_tensor_in_pool",
      [](ProgramContext &context, const TensorRef &ref, const Tensor &tensor) { context.write(ref.value, tensor); },
      nb::arg("program_context_handle"), nb::arg("tensor_ref_handle"), nb::arg("tensor_handle"),
      "Replaces a value for all ops that follow.");
  module.def(
      "walk_program",
      [](const runtime::Binary &binary, IndexArgument index, const nb::callable &callback) {
        const size_t program = programIndex(index);
        const auto count = static_cast<uint32_t>(binary.program(program).operations.size());
        for (uint32_t i = 0; i < count; ++i)
          callback(OpContext{binary, program, i});
      },
      nb::arg("binary"), nb::arg("program_index"), nb::arg("cb"), "Calls cb(op_context) for each op, without running.");
}

} // namespace tt::python
