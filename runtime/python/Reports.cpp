//===- Reports.cpp - run reports and the op registry for Python -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "Interrupts.h"
#include "tt/metal/activity.h"
#include "tt/metal/exact.h"
#include "tt/runtime/calls.h"
#include "tt/runtime/fabric.h"
#include "tt/runtime/memory_map.h"
#include "ttmlir/costs/Costs.h"

#include <array>
#include <cmath>
#include <optional>

namespace tt::python {

using runtime::BufferLife;
using runtime::OpPerf;
using runtime::OpSends;
using runtime::RunReport;
using runtime::StagePerf;
using ttnn::Send;

void bindReports(nb::module_ &module) {
  nb::class_<OpPerf>(module, "OpPerf", "What an op took.")
      .def_ro("index", &OpPerf::op, "Its place in the program.")
      .def_prop_ro("name", [](const OpPerf &self) { return self.name; })
      .def_prop_ro("loc", [](const OpPerf &self) { return self.loc; })
      .def_ro("host_ns", &OpPerf::hostNs, "Measured here.")
      .def_ro("cycles", &OpPerf::cycles, "Estimated on the chip.")
      .def_ro("device_ns", &OpPerf::deviceNs, "Estimated on the chip.")
      .def_prop_ro(
          "bound", [](const OpPerf &self) { return sim::nameOf(self.bound); },
          "What the estimate is mostly due to: compute, DRAM, L1, fabric or dispatch; empty for what takes no time.")
      .def_prop_ro(
          "kind", [](const OpPerf &self) { return ttmlir::cost::rowOf(self.cost.kind).name; },
          "Ops of a kind are estimated as well as one another: matmul, convolution, attention, layout, or other.")
      .def_ro("uncertainty_ns", &OpPerf::uncertaintyNs, "Of device_ns: one standard deviation (docs/cost-model.md).")
      .def_prop_ro(
          "programs", [](const OpPerf &self) { return self.cost.launched ? self.cost.programs : 0; },
          "Programs of kernels that it is on a card.")
      .def_prop_ro(
          "family",
          [](const OpPerf &self) {
            const ttmlir::cost::Rule *rule = ttmlir::cost::findRule(self.name);
            return ttmlir::cost::familyName(rule ? rule->family : ttmlir::cost::Family::Elementwise);
          },
          "Ops of a family have kernels of one kind: elementwise, product, convolution, pool, norm, reduction, "
          "reshape, "
          "data movement, attention, other, or none for what does not run on the chip.")
      .def_prop_ro(
          "phases", [](const OpPerf &self) { return self.cost.phases; },
          "Fidelity phases of the matrix unit: 1 for LoFi to 4 for HiFi4.")
      .def(
          "cores",
          [](const OpPerf &self, std::string_view arch) {
            const double all = sim::chip(sim::parseArch(arch)).cores();
            return static_cast<int64_t>(std::ceil(ttmlir::cost::coresOf(self.cost, all)));
          },
          nb::arg("arch"), "Cores of a chip that the op keeps busy.")
      .def(
          "launch_ns",
          [](const OpPerf &self, std::string_view arch) {
            return self.cost.launched
                       ? static_cast<double>(self.cost.programs) * sim::chip(sim::parseArch(arch)).speed.launchNs
                       : 0.0;
          },
          nb::arg("arch"), "The part of device_ns in which no kernel runs yet.")
      .def_prop_ro(
          "dram_resident_bytes_per_bank",
          [](const OpPerf &self) { return self.resident[static_cast<size_t>(sim::Memory::DRAM)]; },
          "Of the program's tensors, while the op runs.")
      .def_prop_ro(
          "l1_resident_bytes_per_bank",
          [](const OpPerf &self) { return self.resident[static_cast<size_t>(sim::Memory::L1)]; },
          "Of the program's tensors, while the op runs.")
      .def_ro("circular_buffer_bytes", &OpPerf::circularBytes,
              "Of its kernels, on each core, where their rule is known (docs/runtime.md).")
      .def_prop_ro("dram_bytes", [](const OpPerf &self) { return self.cost.dramBytes; })
      .def_prop_ro("l1_bytes", [](const OpPerf &self) { return self.cost.l1Bytes; })
      .def_prop_ro("fabric_bytes", [](const OpPerf &self) { return self.cost.fabricBytes; })
      .def_prop_ro("matmul_tiles", [](const OpPerf &self) { return self.cost.matmulTiles; })
      .def_prop_ro("fpu_tiles", [](const OpPerf &self) { return self.cost.fpuTiles; })
      .def_prop_ro("sfpu_tiles", [](const OpPerf &self) { return self.cost.sfpuTiles; })
      .def_prop_ro(
          "sfpu_cycles", [](const OpPerf &self) { return self.cost.sfpuCycles; },
          "Of all sfpu_tiles, where they are known; else 0.")
      .def_prop_ro(
          "activity", [](const OpPerf &self) { return self.activity ? self.activity.get() : nullptr; },
          nb::rv_policy::reference_internal, "What the cores did, for a program of kernels; else None.");
  nb::class_<StagePerf>(module, "StagePerf", "What a stage of a program took, for all micro-batches.")
      .def_prop_ro(
          "name", [](const StagePerf &self) { return self.name; }, "Of its program.")
      .def_ro("program_index", &StagePerf::program)
      .def_prop_ro("mesh_shape",
                   [](const StagePerf &self) { return std::vector<uint32_t>{self.place.rows, self.place.columns}; })
      .def_prop_ro(
          "mesh_offset",
          [](const StagePerf &self) { return std::vector<uint32_t>{self.place.firstRow, self.place.firstColumn}; },
          "Of its first chip.")
      .def_ro("host_ns", &StagePerf::hostNs, "The ops, measured here.")
      .def_ro("compute_ns", &StagePerf::computeNs, "Running the program, estimated on the chip.")
      .def_ro("send_ns", &StagePerf::sendNs, "Sending results to other stages, estimated on the chip.")
      .def_ro("first_ns", &StagePerf::firstNs, "When its chips begin, from the beginning of the run.")
      .def_ro("last_ns", &StagePerf::lastNs, "When they end.")
      .def_ro("sent_bytes", &StagePerf::sentBytes, "To chips of other stages.")
      .def_prop_ro("dram_peak_bytes_per_bank",
                   [](const StagePerf &self) { return self.memoryPeak[static_cast<size_t>(sim::Memory::DRAM)]; })
      .def_prop_ro("l1_peak_bytes_per_bank",
                   [](const StagePerf &self) { return self.memoryPeak[static_cast<size_t>(sim::Memory::L1)]; })
      .def_ro("ops", &StagePerf::ops, "By op, when perf recording is on.");
  nb::class_<RunReport>(module, "RunReport", "What a run took.")
      .def_prop_ro(
          "binary", [](const RunReport &self) { return self.binary ? std::optional(self.binary) : std::nullopt; },
          nb::sig("def binary(self) -> _ttmlir_runtime.binary.Binary | None"),
          "That of the ops and stages; None when the report has neither, so that it keeps no weights.")
      .def_ro("program_index", &RunReport::program)
      .def_ro("host_ns", &RunReport::hostNs, "The ops, measured here.")
      .def_ro("cycles", &RunReport::cycles, "Estimated on the chip.")
      .def_ro("device_ns", &RunReport::deviceNs, "Estimated on the chip.")
      .def_ro("arena_bytes", &RunReport::arenaBytes, "Host memory for intermediate values.")
      .def_prop_ro("dram_peak_bytes_per_bank",
                   [](const RunReport &self) { return self.memoryPeak[static_cast<size_t>(sim::Memory::DRAM)]; })
      .def_prop_ro("l1_peak_bytes_per_bank",
                   [](const RunReport &self) { return self.memoryPeak[static_cast<size_t>(sim::Memory::L1)]; })
      .def_ro("ops", &RunReport::ops, "By op, when perf recording is on.")
      .def_ro("micro_batches", &RunReport::microBatches, "That went through the stages.")
      .def_ro("stages", &RunReport::stages, "Of a program that has stages, which has no ops.")
      .def_ro("bubble", &RunReport::bubble, "The part of the time of the stages' chips in which they do nothing.");

  module.def("set_perf_recording", &runtime::setPerfRecording, nb::arg("on"), "Records per-op times of runs to come.");
  module.def("get_perf_recording", &runtime::perfRecording);
  module.def(
      "observe_calls",
      [](nb::object observer) {
        if (!PyCallable_Check(observer.ptr()))
          throw nb::type_error(("observe_calls: observer is " + reprOf(observer) + "; expected a function").c_str());
        // Freed with the function, possibly without the lock of the interpreter.
        std::shared_ptr<nb::object> held(new nb::object(std::move(observer)), [](nb::object *dropped) {
          nb::gil_scoped_acquire locked;
          delete dropped;
        });
        return runtime::observeCalls([held](const runtime::CallRecord &record) {
          nb::gil_scoped_acquire locked;
          (*held)(record.device, record.json, record.perf, record.startNs);
        });
      },
      nb::arg("observer"),
      nb::sig("def observe_calls(observer: collections.abc.Callable[[Device | None, str, OpPerf, int], None]) -> int"),
      "Calls a function after every call of a ttnn function from now on, with the device, JSON (name, operands, "
      "results, "
      "attributes), the figures of the call, and its start on the clock of time.perf_counter_ns. Returns a number for "
      "end_observing_calls.");
  module.def(
      "end_observing_calls", [](uint64_t number) { runtime::endObservingCalls(number); }, nb::arg("number"),
      "Removes an observer by the number that observe_calls returned. Raises Error if there is none.");
  module.def(
      "last_run",
      [](const runtime::Device &device) -> std::optional<RunReport> {
        const auto report = runtime::lastRun(device);
        return report ? std::optional(*report) : std::nullopt;
      },
      nb::arg("device"), "The report of the last run on a device; None before the first.");
  module.def(
      "estimate",
      [](const runtime::Binary &binary, std::optional<IndexArgument> program, std::string_view arch,
         std::optional<Ints<uint32_t>> mesh) {
        sim::MeshOptions options;
        options.arch = sim::parseArch(arch);
        const std::vector<uint32_t> meshShape = mesh ? mesh->in("mesh_shape") : std::vector<uint32_t>{1, 1};
        const size_t index = program ? programIndex(*program) : 0;
        if (meshShape.size() != 2)
          throw Error("estimate: mesh_shape has " + std::to_string(meshShape.size()) +
                      " dimensions; expected (rows, columns)");
        options.rows = meshShape[0];
        options.columns = meshShape[1];
        return interruptibly([&] { return runtime::estimate(binary, index, options); });
      },
      nb::arg("binary"), nb::arg("program_index").none() = nb::none(), nb::arg("arch") = "wormhole_b0",
      nb::arg("mesh_shape").none() = nb::none(),
      nb::sig("def estimate(binary: _ttmlir_runtime.binary.Binary, program_index: int = 0, arch: str = 'wormhole_b0', "
              "mesh_shape: collections.abc.Sequence[int] = (1, 1)) -> RunReport"),
      "What a program would take on the chip, op by op, without running it.");

  nb::class_<BufferLife>(module, "BufferLife", "A buffer of a program in the memory of each chip.")
      .def_ro("begin", &BufferLife::begin, "The first op during which it is allocated.")
      .def_ro("end", &BufferLife::end, "The op before which it is freed.")
      .def_prop_ro("memory", [](const BufferLife &self) { return sim::toString(self.memory); })
      .def_ro("address", &BufferLife::address, "In every bank.")
      .def_ro("bytes_per_bank", &BufferLife::bytesPerBank)
      .def_ro("circular", &BufferLife::circular, "The circular buffers of an op, on each core.")
      .def_ro("values", &BufferLife::values, "Values of the program that lie in it.")
      .def_ro("label", &BufferLife::label);
  module.def(
      "memory_map",
      [](const runtime::Binary &binary, std::optional<IndexArgument> program, std::string_view arch) {
        const size_t index = program ? programIndex(*program) : 0;
        const std::vector<uint32_t> &mesh = binary.program(index).meshShape;
        sim::MeshOptions options;
        options.arch = sim::parseArch(arch);
        options.rows = mesh[0];
        options.columns = mesh[1];
        return interruptibly([&] { return runtime::memoryMap(binary, index, options); });
      },
      nb::arg("binary"), nb::arg("program_index").none() = nb::none(), nb::arg("arch") = "wormhole_b0",
      nb::sig("def memory_map(binary: _ttmlir_runtime.binary.Binary, program_index: int = 0, arch: str = "
              "'wormhole_b0') -> list[BufferLife]"),
      "Returns the addresses and lifetimes of a program's buffers on an otherwise empty device. Runs nothing.");

  module.def(
      "result_places",
      [](const runtime::Binary &binary, std::optional<IndexArgument> index) {
        const runtime::Program &program = binary.program(index ? programIndex(*index) : 0);
        nb::list places;
        for (const runtime::Operation &operation : program.operations) {
          const uint32_t out = operation.outs.empty() ? runtime::absentOperand : operation.outs[0];
          if (out == runtime::absentOperand) {
            places.append(nb::none());
            continue;
          }
          const MemoryConfig &memory = program.spec(out).memory;
          places.append(
              nb::make_tuple(toString(memory.buffer), toString(memory.layout), memory.grid, memory.shardShape));
        }
        return places;
      },
      nb::arg("binary"), nb::arg("program_index").none() = nb::none(),
      nb::sig("def result_places(binary: _ttmlir_runtime.binary.Binary, program_index: int = 0) -> "
              "list[tuple[str, str, list[int], list[int]] | None]"),
      "Where the first result of each op of a program lies: buffer type, memory layout, grid and shard; None for ops "
      "without results.");

  nb::class_<Send>(module, "Send", "What one chip sends to another.")
      .def_ro("route", &Send::route, "Chips from the one that sends to the one that receives.")
      .def_ro("bytes", &Send::bytes)
      .def_prop_ro("hops", &Send::hops);
  nb::class_<OpSends>(module, "OpSends", "An op that sends something to other chips.")
      .def_ro("index", &OpSends::op, "Its place in the program.")
      .def_ro("sends", &OpSends::sends, "On all chips of the mesh.")
      .def_ro("fabric_ns", &OpSends::fabricNs, "What the clock takes for it; overlaps with the op's other work.");
  module.def(
      "sends",
      [](const runtime::Binary &binary, std::optional<IndexArgument> program, std::string_view arch) {
        return runtime::sends(binary, program ? programIndex(*program) : 0, sim::parseArch(arch));
      },
      nb::arg("binary"), nb::arg("program_index").none() = nb::none(), nb::arg("arch") = "wormhole_b0",
      nb::sig("def sends(binary: _ttmlir_runtime.binary.Binary, program_index: int = 0, arch: str = 'wormhole_b0') -> "
              "list[OpSends]"),
      "The ops of a program that send something to other chips, in order, without running it.");
  module.def(
      "plans",
      [](const runtime::Binary &binary, std::optional<IndexArgument> program, std::string_view arch) {
        return runtime::plans(binary, program ? programIndex(*program) : 0, sim::parseArch(arch));
      },
      nb::arg("binary"), nb::arg("program_index").none() = nb::none(), nb::arg("arch") = "wormhole_b0",
      nb::sig("def plans(binary: _ttmlir_runtime.binary.Binary, program_index: int = 0, arch: str = 'wormhole_b0') -> "
              "list[str]"),
      "How the library would run each op of a program, as JSON: its programs with their compute config, the blocks of "
      "products, and circular buffers. Raises Error for a TTMetal file.");

  module.def(
      "rounded_only",
      [](const runtime::Binary &binary) {
        const auto functions = metal::roundedOnly(binary);
        return std::vector<std::string>(functions.begin(), functions.end());
      },
      nb::arg("binary"),
      "The functions of the kernel API that the last run of a TTMetal file on an exact device called with floats, "
      "and whose arithmetic is not published: they compute as by default, and are rounded.");

  module.def(
      "list_ops",
      [] {
        constexpr std::array<const char *, 12> kinds = {"bool",      "int",         "float",    "string",
                                                        "int_array", "float_array", "constant", "enum",
                                                        "struct",    "list",        "number",   "integers"};
        nb::dict ops;
        for (const ttnn::OpInfo &info : ttnn::allOps()) {
          nb::dict attributes;
          for (const ttnn::AttributeSpec &attribute : info.attributes) {
            nb::dict entry;
            entry["kind"] = kinds[static_cast<size_t>(attribute.kind)];
            entry["required"] = attribute.required;
            attributes[nb::cast(attribute.name)] = entry;
          }
          nb::dict op;
          op["min_ins"] = info.minIns;
          op["max_ins"] = info.maxIns < 0 ? nb::none() : nb::cast(info.maxIns);
          op["outs"] = info.outs;
          op["attributes"] = attributes;
          op["collective"] = info.makeMesh != nullptr;
          ops[nb::cast(info.name)] = op;
        }
        return ops;
      },
      nb::sig("def list_ops() -> dict[str, dict[str, typing.Any]]"),
      "The ops that this runtime computes, by name: arity and attributes.");
}

} // namespace tt::python
