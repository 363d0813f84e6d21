//===- generic.cpp - ttnn.generic: kernels inside of TTNN programs --------===//
// SPDX-License-Identifier: Apache-2.0
//
// The operands lie in the memory of a chip that has nothing else: from the end of L1 down, from the begin of DRAM up.
//
//===----------------------------------------------------------------------===//

#include "binary/generic.h"
#include "core/deferred.h"
#include "core/op.h"
#include "core/plan.h"
#include "metal/library.h"
#include "metal/report.h"
#include "run/measured.h"
#include "tt/metal/tensors.h"
#include "tt/sim/chip.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace tt::metal {
namespace {

using ttnn::Attribute, ttnn::ListAttribute, ttnn::OpCall, ttnn::StructAttribute;
using Mode = std::vector<int64_t>;

/// A struct of the program with the path to it, for messages.
class Fields {
public:
  Fields(const OpCall &call, const StructAttribute &of, std::string path) : call(call), of(of), path(std::move(path)) {}

  std::string_view type() const { return of.type; }
  [[noreturn]] void fail(std::string_view field, const std::string &what) const {
    ttnn::fail(call, path + (field.empty() ? "" : "." + std::string(field)) + " " + what);
  }
  template <class T> const T *find(std::string_view name) const {
    const Attribute *found = ttnn::field(of, name);
    if (!found)
      return nullptr;
    const T *value = std::get_if<T>(&found->value);
    if (!value)
      fail(name, "is of another type than expected");
    return value;
  }
  template <class T> const T &get(std::string_view name) const {
    const T *value = find<T>(name);
    if (!value)
      fail(name, "is missing");
    return *value;
  }
  uint32_t number(std::string_view name) const {
    const int64_t value = get<int64_t>(name);
    if (value < 0 || value > UINT32_MAX)
      fail(name, "is " + std::to_string(value) + "; expected 0 to 4294967295");
    return static_cast<uint32_t>(value);
  }
  bool flag(std::string_view name) const { return get<bool>(name); }
  /// Calls f(fields of an item) for each item of a list, which may be absent.
  template <class F> void each(std::string_view name, F f) const {
    const auto *list = find<ListAttribute>(name);
    for (size_t i = 0; list && i < list->items.size(); ++i) {
      const auto *item = std::get_if<StructAttribute>(&list->items[i].value);
      const std::string at = std::string(name) + "[" + std::to_string(i) + "]";
      if (!item)
        fail(at, "is of another type than expected");
      f(Fields(call, *item, path + "." + at));
    }
  }
  std::vector<CoreCoord> cores(const sim::ChipDesc &chip) const {
    const auto &corners = get<std::vector<int64_t>>("core_ranges");
    const auto number = [&](size_t i) {
      const int64_t size = i % 2 ? chip.gridRows : chip.gridColumns;
      if (corners[i] < 0 || corners[i] >= size)
        fail("core_ranges", "has " + std::string(i % 2 ? "row " : "column ") + std::to_string(corners[i]) +
                                "; expected one below " + std::to_string(size));
      return static_cast<uint32_t>(corners[i]);
    };
    if (corners.empty() || corners.size() % 4)
      fail("core_ranges", "has " + std::to_string(corners.size()) + " numbers; expected 4 of each rectangle");
    std::vector<CoreCoord> all;
    for (size_t i = 0; i < corners.size(); i += 4) {
      const std::vector<CoreCoord> range = coreRange({number(i), number(i + 1)}, {number(i + 2), number(i + 3)});
      all.insert(all.end(), range.begin(), range.end());
    }
    return all;
  }

private:
  const OpCall &call;
  const StructAttribute &of;
  const std::string path;
};

/// Machines that no run uses now.
class Machines {
public:
  std::unique_ptr<Machine> take(const sim::ChipDesc &chip) {
    std::lock_guard lock(mutex);
    auto &there = idle[chip.arch];
    if (there.empty())
      return std::make_unique<Machine>(chip);
    std::unique_ptr<Machine> machine = std::move(there.back());
    there.pop_back();
    return machine;
  }
  void give(std::unique_ptr<Machine> machine) {
    std::lock_guard lock(mutex);
    idle[machine->chip().arch].push_back(std::move(machine));
  }

private:
  ForkAware<std::mutex> mutex;
  std::map<Arch, std::vector<std::unique_ptr<Machine>>> idle;
};
Machines &machines() {
  static auto *created = new Machines; // outlives threads that still run at exit
  return *created;
}

class GenericKernel final : public ttnn::Kernel, public ttnn::OwnCircularBuffers, public runtime::MeasuredKernel {
public:
  explicit GenericKernel(const OpCall &call)
      : attributes(std::make_shared<const ttnn::Attributes>(call.attributes)),
        chip(sim::chip(sim::parseArch(call.attributes.get<std::string>("arch")))) {
    for (size_t i = 0; i < call.ins.size(); ++i)
      specs.push_back(ttnn::operand(call, i));
    placeTensors(call);
    program->name = "ttnn.generic";
    program->exact = call.exact.has_value();
    const Fields fields(call, attributes->get<StructAttribute>("program"), "program");
    std::vector<CircularGroup> groups;
    if (fields.type() != "ttnn.program")
      fields.fail("", "is a " + std::string(fields.type()) + "; expected a ttnn.program");
    fields.each("cbs", [&](const Fields &each) { groups.push_back(circular(each)); });
    fields.each("semaphores", [&](const Fields &each) {
      if (each.number("core_type") != 0)
        each.fail("core_type", "is that of another kind of core; expected worker");
      program->semaphores.push_back({each.number("id"), each.number("initial_value"), each.cores(chip)});
    });
    fields.each("kernels", [&](const Fields &each) { program->kernels.push_back(kernel(each)); });
    if (program->kernels.empty())
      fields.fail("kernels", "is empty; expected at least one kernel");
    std::vector<std::pair<BufferType, uint64_t>> places;
    for (size_t i = 0; i < specs.size(); ++i)
      places.emplace_back(specs[i].memory.buffer, addresses[i]);
    try {
      circularTotal = addCircularBuffers(*program, groups, chip, places);
    } catch (const Error &error) {
      ttnn::fail(call, error.what());
    }
    ttnn::DeferredWork *const plan = ttnn::DeferredWork::current();
    batch = plan ? plan->shared<ProgramBatch>() : std::make_shared<ProgramBatch>();
    number = batch->add(program, [attributes = attributes] { return runtime::areAllowed(*attributes); });
  }

  int64_t circularBytes() const override { return circularTotal; }

  void run(const ttnn::Buffers &buffers) const override { runKernels(buffers); }
  void runMeasured(const ttnn::Buffers &buffers, runtime::OpPerf &perf) const override {
    takeReport(runKernels(buffers), chip, perf);
  }

private:
  KernelReport runKernels(const ttnn::Buffers &buffers) const {
    // When it runs: a program may be prepared, and its costs estimated, without permission.
    runtime::requireAllowed(*attributes);
    const std::shared_ptr<const ProgramKernels> kernels = batch->kernels(number);
    std::vector<PagedValues> values;
    for (size_t i = 0; i < specs.size(); ++i)
      values.push_back(
          {&specs[i], pages[i], addresses[i], const_cast<std::byte *>(buffers.ins[i]), i + 1 == specs.size()});
    std::unique_ptr<Machine> machine = machines().take(chip);
    KernelReport report = runOnValues(*machine, values, *program, *kernels);
    machines().give(std::move(machine)); // not after an error
    return report;
  }

  void placeTensors(const OpCall &call) {
    if (specs.empty())
      ttnn::fail(call, "has no operands; expected at least the result");
    int64_t l1 = chip.l1Size, dram = chip.dramUnreservedBase;
    for (size_t i = 0; i < specs.size(); ++i) {
      const sim::Footprint taken = sim::footprint(chip, specs[i]);
      const bool inL1 = taken.buffer == BufferType::L1;
      if (!inL1 && taken.buffer != BufferType::DRAM)
        ttnn::fail(call, "operand " + std::to_string(i) + " lies in " + std::string(toString(taken.buffer)) +
                             "; expected a tensor in L1 or DRAM");
      const int64_t unit = inL1 ? chip.l1Alignment : chip.dramAlignment;
      const int64_t bytes = (taken.bytesPerBank + unit - 1) / unit * unit;
      const int64_t free = inL1 ? l1 - chip.l1UnreservedBase : chip.dramUnreservedEnd - dram;
      const int64_t all = inL1 ? chip.l1Size - chip.l1UnreservedBase : chip.dramUnreservedEnd - chip.dramUnreservedBase;
      if (bytes > free)
        ttnn::fail(call, "operand " + std::to_string(i) + " needs " + std::to_string(bytes) + " bytes of " +
                             (inL1 ? "L1 on each core" : "each DRAM channel") + ", which has " + std::to_string(free) +
                             " of " + std::to_string(all) + " left after the operands before it; " +
                             (inL1 ? "put operands into DRAM, or spread them over more cores" : "divide the tensors"));
      if (inL1)
        l1 -= bytes;
      addresses.push_back(static_cast<uint64_t>(inL1 ? l1 : dram));
      if (!inL1)
        dram += bytes;
      pages.push_back(pagesOf(specs[i]));
    }
  }

  size_t operandOf(const Fields &fields, std::string_view name) const {
    const uint32_t index = fields.number(name);
    if (index >= specs.size())
      fields.fail(name, "is " + std::to_string(index) + "; expected an operand, below " + std::to_string(specs.size()));
    return index;
  }

  CircularGroup circular(const Fields &fields) const {
    std::optional<uint32_t> address;
    if (fields.find<int64_t>("buffer_of")) {
      const size_t operand = operandOf(fields, "buffer_of");
      if (pages[operand].cores.empty())
        fields.fail("buffer_of", "is operand " + std::to_string(operand) + ", which is not sharded in L1");
      address = static_cast<uint32_t>(addresses[operand]);
    }
    const uint32_t total = fields.number("total_size");
    const std::vector<CoreCoord> cores = fields.cores(chip);
    CircularGroup group;
    fields.each("formats", [&](const Fields &format) {
      const uint32_t page = format.number("page_size");
      if (!page || total % page)
        format.fail("page_size", "is " + std::to_string(page) + "; expected a divisor of the " + std::to_string(total) +
                                     " bytes of the buffer");
      const uint32_t type = format.number("dtype");
      if (type > static_cast<uint32_t>(DataType::Bool))
        format.fail("dtype", "is " + std::to_string(type) + ", which is no data type");
      group.push_back({format.number("buffer_index"), static_cast<DataType>(type), page, total / page, cores, address});
    });
    if (group.empty())
      fields.fail("formats", "is empty; expected at least one");
    return group;
  }

  uint32_t argument(const Fields &each) const {
    if (each.type() == "ttnn.kernel_arg_address_of_tensor")
      return static_cast<uint32_t>(addresses[operandOf(each, "tensor_index")]);
    if (each.type() == "ttnn.kernel_arg_cb_buffer_index")
      return each.number("buffer_index");
    if (each.type() == "ttnn.kernel_arg_semaphore_at")
      return each.number("semaphore_index");
    if (each.type() == "ttnn.kernel_named_arg")
      return each.number("value");
    each.fail("", "is a " + std::string(each.type()) +
                      "; expected the address of a tensor, a circular buffer, a "
                      "semaphore or a named value");
  }

  HostKernel kernel(const Fields &fields) const {
    HostKernel kernel;
    kernel.cores = fields.cores(chip);
    kernel.source = fields.get<std::string>("source");
    const std::string_view type = fields.type();
    kernel.compute = type == "ttnn.source_compute_kernel";
    kernel.noc = type == "ttnn.source_write_kernel" ? 1 : 0;
    if (!kernel.compute && !kernel.noc && type != "ttnn.source_read_kernel")
      fields.fail("", "is a " + std::string(type) + "; expected one with its source");
    kernel.name = "kernels[" + std::to_string(program->kernels.size()) + "]" +
                  (kernel.compute ? " (compute)"
                   : kernel.noc   ? " (writer)"
                                  : " (reader)");
    if (kernel.compute) {
      const uint32_t fidelity = fields.number("math_fidelity");
      kernel.fidelityPhases = fidelity ? fidelity : 1; // LoFi is 0, HiFi2 2
      kernel.fp32DestAcc = fields.flag("fp32_dest_acc_en");
      kernel.dstFull = fields.flag("dst_full_sync_en");
      kernel.bfp8PackPrecise = fields.flag("bfp8_pack_precise");
      kernel.mathApprox = fields.flag("math_approx_mode");
      if (const auto *modes = fields.find<Mode>("unpack_to_dest_modes"))
        for (size_t port = 0; port < modes->size(); ++port)
          if ((*modes)[port] == 0)
            kernel.unpackToDestFp32.push_back(static_cast<uint32_t>(port));
    }
    fields.each("ct_args", [&](const Fields &each) {
      if (each.type() != "ttnn.kernel_arg_tensor_accessor_args")
        return kernel.compileTimeArgs.push_back(argument(each));
      const size_t operand = operandOf(each, "operand_index");
      if (!pages[operand].cores.empty())
        each.fail("operand_index",
                  "is operand " + std::to_string(operand) + ", which is sharded; expected an interleaved one");
      const InterleavedBuffer buffer{specs[operand].memory.buffer, addresses[operand], pages[operand].bytes, 0};
      for (uint32_t value : buffer.accessorArgs())
        kernel.compileTimeArgs.push_back(value);
    });
    fields.each("common_rt_args", [&](const Fields &each) { kernel.commonArgs.push_back(argument(each)); });
    fields.each("rt_args", [&](const Fields &core) {
      auto &args = kernel.args[{core.number("x"), core.number("y")}];
      core.each("args", [&](const Fields &each) { args.push_back(argument(each)); });
    });
    return kernel;
  }

  const std::shared_ptr<const ttnn::Attributes> attributes;
  const sim::ChipDesc &chip;
  std::vector<TensorSpec> specs;
  std::vector<Pages> pages;
  std::vector<uint64_t> addresses;
  const std::shared_ptr<HostProgram> program = std::make_shared<HostProgram>();
  int64_t circularTotal = 0; // bytes of circular buffers, of each core
  std::shared_ptr<ProgramBatch> batch;
  size_t number = 0; // in the batch
};

std::unique_ptr<ttnn::Kernel> makeGeneric(const OpCall &call) { return std::make_unique<GenericKernel>(call); }

} // namespace
} // namespace tt::metal

namespace tt::ttnn {

std::vector<OpInfo> genericOps() {
  static constexpr AttributeSpec attributes[] = {{"program", AttributeKind::Struct, true, "ttnn.program"},
                                                 {"arch", AttributeKind::String, true, {}}};
  OpInfo generic{"ttnn.generic", metal::makeGeneric};
  generic.writes = {-1}; // the last operand
  generic.attributes = attributes;
  return {generic};
}

} // namespace tt::ttnn
