//===- planner.cpp - prepare a program for a device -----------------------===//

#include "executable.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tt::runtime {
namespace {

/// Results of ops without operands that are the same in every run, beside ttnn.constant.
constexpr std::array<std::string_view, 5> creators = {"ttnn.arange", "ttnn.empty", "ttnn.full", "ttnn.ones",
                                                      "ttnn.zeros"};

// Constants are computed ahead up to this many bytes per program; beyond, recomputing is better than the memory.
constexpr size_t maxPreparedBytes = size_t(4) << 30;

size_t alignUp(size_t bytes) { return (bytes + sim::hostAlignment - 1) / sim::hostAlignment * sim::hostAlignment; }

/// A constant in an observed run, and a view whose values were given memory of their own.
class CopyKernel final : public ttnn::Kernel {
public:
  CopyKernel(const std::byte *constant, size_t bytes, size_t operand = 0)
      : constant(constant), bytes(bytes), operand(operand) {}
  void run(const ttnn::Buffers &buffers) const override {
    if (bytes)
      std::memcpy(buffers.outs[0], constant ? constant : buffers.ins[operand], bytes);
  }

private:
  const std::byte *constant; // nullptr: the operand
  size_t bytes, operand;
};

/// The values of a constant in the form the device holds them.
std::shared_ptr<std::byte> quantised(const TensorSpec &spec, std::span<const std::byte> bytes) {
  auto copy = sim::allocateHost(bytes.size(), "a constant");
  if (!bytes.empty()) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    const auto columns = static_cast<size_t>(spec.shape.empty() ? 1 : spec.shape.back());
    sim::quantiseRows(spec.dtype, reinterpret_cast<uint16_t *>(copy.get()), bytes.size() / 2 / columns, columns);
  }
  return copy;
}

bool onHost(const TensorSpec &spec) { return spec.memory.buffer == BufferType::SystemMemory; }

} // namespace

class Planner {
public:
  Planner(Executable &exe, const Device &device)
      : exe(exe), program(exe.program), device(device), chip(device->chip()), observed(exe.mode == Mode::Observed),
        opCount(static_cast<uint32_t>(program.operations.size())) {}

  void plan() {
    const size_t values = program.values.size();
    exe.rootOf.resize(values);
    for (uint32_t value = 0; value < values; ++value)
      exe.rootOf[value] = value;
    exe.roots.resize(values);
    groupOf.assign(values, MemoryPlan::none);
    exe.durations.resize(opCount);
    exe.costs.resize(opCount);
    exe.alive.assign(values, 0);
    findWritten();
    planInputs();
    for (op = 0; op < opCount; ++op)
      planOperation();
    planOutputs();
    checkMemory();
    placeValues();
    bindSteps();
    dropUnusedConstants();
  }

private:
  const Operation &operation() const { return program.operations[op]; }
  uint32_t shards(uint32_t value) const { return program.spec(value).distributed ? program.devices() : 1; }

  [[noreturn]] void fail(const std::string &message) const {
    std::string text = exe.name() + ": op " + std::to_string(op) + " (" + std::string(operation().info->name) + ")";
    if (!operation().loc.empty())
      text += " at " + std::string(operation().loc);
    throw OpError(text + ": " + message);
  }

  /// Calls f and adds program and op to what it throws.
  template <class F> auto located(F f) const {
    try {
      return f();
    } catch (const OutOfMemoryError &) {
      throw;
    } catch (const Error &error) {
      fail(error.what());
    } catch (const std::bad_alloc &) {
      throw OutOfMemoryError(exe.name() + ": out of host memory while preparing op " + std::to_string(op) + " (" +
                             std::string(operation().info->name) + ")");
    } catch (const std::exception &error) {
      fail(error.what());
    }
  }

  /// Values that an op changes in place share their memory with no other.
  void findWritten() {
    exe.written.assign(program.values.size(), false);
    for (const Operation &operation : program.operations)
      for (int index : operation.info->writes)
        if (static_cast<size_t>(index) < operation.ins.size() &&
            operation.ins[static_cast<size_t>(index)] != absentOperand)
          exe.written[operation.ins[static_cast<size_t>(index)]] = true;
  }

  void checkSize(uint32_t value, const std::string &what) const {
    const size_t bytes = program.spec(value).bytes() * shards(value);
    if (bytes > sim::hostMemoryLimit())
      throw OutOfMemoryError(exe.name() + ": " + what + " of shape " + toString(program.spec(value).shape) + " has " +
                             std::to_string(bytes) + " bytes; the limit of host memory is " +
                             std::to_string(sim::hostMemoryLimit()));
  }

  void planInputs() {
    for (uint32_t i = 0; i < program.inputs.size(); ++i) {
      const uint32_t value = program.inputs[i];
      const std::string name = "input " + std::to_string(i) + " of " + exe.name();
      checkSize(value, name);
      Executable::Root &root = exe.roots[value];
      root.home = observed ? Executable::Home::Arena : Executable::Home::Input;
      root.index = i;
      root.shards = shards(value);
      addGroup(value, 0, sim::footprint(chip, program.spec(value)), name, static_cast<int32_t>(i));
    }
  }

  void addGroup(uint32_t value, uint32_t at, const sim::Footprint &footprint, std::string label, int32_t input = -1) {
    if (footprint.buffer == BufferType::SystemMemory)
      return;
    groupOf[value] = static_cast<uint32_t>(exe.memory.groups.size());
    exe.memory.groups.push_back({footprint, std::move(label), input});
    exe.memory.events.push_back({at, true, groupOf[value]});
    references.push_back(1);
  }

  void planOperation() {
    const Operation &operation = this->operation();
    if (operation.info->name == "ttnn.deallocate") {
      planDeallocation();
      return;
    }
    for (uint32_t out : operation.outs) {
      checkSize(out, "result of op " + std::to_string(op) + " (" + std::string(operation.info->name) + ")");
      Executable::Root &root = exe.roots[out];
      root.home = Executable::Home::Arena;
      root.shards = shards(out);
      root.firstOp = root.lastOp = op;
    }
    for (uint32_t in : operation.ins)
      if (in != absentOperand)
        extend(in, op);
    ttnn::OpCall call = program.call(operation);
    int alias = -1;
    if (!planConstant(call))
      alias = located([&] { return makeKernel(call); });
    planDeviceMemory(alias, call);
  }

  /// The value is needed at op `at`.
  void extend(uint32_t value, uint32_t at) {
    Executable::Root &root = exe.roots[exe.rootOf[value]];
    root.lastOp = std::max(root.lastOp, at);
  }

  void planDeallocation() {
    if (operation().ins.empty() || operation().ins[0] == absentOperand)
      return;
    const uint32_t value = operation().ins[0];
    if (observed)
      deallocatedAt.emplace_back(value, op);
    const uint32_t group = groupOf[value];
    if (group != MemoryPlan::none && --references[group] == 0)
      exe.memory.events.push_back({op, false, group});
  }

  /// ttnn.constant needs no kernel: its values are used where the file has them.
  bool planConstant(const ttnn::OpCall &call) {
    if (operation().info->name != "ttnn.constant" || operation().outs.size() != 1)
      return false;
    const ttnn::ConstantAttribute *constant = nullptr;
    for (const auto &[name, attribute] : operation().attributes.all())
      if (const auto *found = std::get_if<ttnn::ConstantAttribute>(&attribute.value))
        constant = found;
    if (!constant)
      return false;
    const uint32_t value = operation().outs[0];
    const std::byte *bytes = constant->bytes.data();
    if (sim::isBlockFormat(call.outs[0].dtype)) {
      exe.prepared.push_back(quantised(call.outs[0], constant->bytes));
      bytes = exe.prepared.back().get();
      keep.push_back(exe.prepared.back().get());
    }
    if (!observed && !exe.written[value]) {
      exe.roots[value].home = Executable::Home::Constant;
      exe.roots[value].constant = bytes;
      return true;
    }
    addStep(std::make_unique<CopyKernel>(bytes, call.outs[0].bytes()));
    return true;
  }

  bool isConstant(uint32_t value) const { return exe.roots[exe.rootOf[value]].home == Executable::Home::Constant; }

  /// The step of an op, if it needs one. Returns the operand that the result is a view of, or -1.
  int makeKernel(ttnn::OpCall &call) {
    const ttnn::OpInfo &info = *operation().info;
    const auto &ins = operation().ins;
    const auto &outs = operation().outs;
    bool allConstant = !observed;
    for (uint32_t in : ins)
      allConstant = allConstant && (in == absentOperand || isConstant(in));
    if (!info.make && !info.makeMesh)
      throw OpError("this op cannot be run by this runtime");
    if (!info.make) {
      exe.meshKernels.push_back(info.makeMesh(call));
      Executable::Step step;
      step.mesh = exe.meshKernels.back().get();
      step.op = op;
      exe.steps.push_back(step);
      return -1;
    }
    if (!observed)
      for (uint32_t in : ins)
        call.constantIns.push_back(in != absentOperand && isConstant(in) ? exe.roots[exe.rootOf[in]].constant
                                                                         : nullptr);
    std::unique_ptr<ttnn::Kernel> kernel = info.make(call);
    checkDistribution();
    const uint32_t viewed = viewedOperand(*kernel, call);
    const int alias = viewed == absentOperand ? -1 : kernel->alias();
    if (alias >= 0 && !observed && shards(viewed) == shards(outs[0]) && !exe.written[viewed] && !exe.written[outs[0]]) {
      // No step: the result is the operand under another name.
      exe.rootOf[outs[0]] = exe.rootOf[viewed];
    } else if (allConstant && isReproducible() && foldedBytes() <= maxPreparedBytes - preparedBytes) {
      fold(*kernel, call);
    } else if (alias >= 0) {
      // Values that are kept apart, or go from one to every device.
      addStep(std::make_unique<CopyKernel>(nullptr, call.outs[0].bytes(), static_cast<size_t>(alias)));
    } else {
      addStep(std::move(kernel));
    }
    return alias;
  }

  /// The value that the only result is the unchanged bytes of, or absentOperand.
  uint32_t viewedOperand(const ttnn::Kernel &kernel, const ttnn::OpCall &call) const {
    const auto &ins = operation().ins;
    const int alias = kernel.alias();
    if (alias < 0 || static_cast<size_t>(alias) >= ins.size() || operation().outs.size() != 1)
      return absentOperand;
    const auto index = static_cast<size_t>(alias);
    return ins[index] != absentOperand && call.ins[index]->bytes() == call.outs[0].bytes() ? ins[index] : absentOperand;
  }

  /// A kernel of one device sees one shard of each operand.
  void checkDistribution() const {
    uint32_t in = 1, least = ~0u, most = 1;
    for (uint32_t value : operation().ins)
      if (value != absentOperand)
        in = std::max(in, shards(value));
    for (uint32_t value : operation().outs) {
      least = std::min(least, shards(value));
      most = std::max(most, shards(value));
    }
    if (!operation().outs.empty() && (least != most || in > most))
      throw OpError("operands have " + std::to_string(in) + " shards and results " + std::to_string(least) +
                    (least != most ? " and " + std::to_string(most) : "") +
                    "; an op that is not a collective keeps the distribution of its operands");
  }

  bool isReproducible() const {
    if (operation().outs.empty() || !operation().info->writes.empty())
      return false;
    for (uint32_t out : operation().outs)
      if (shards(out) != 1 || exe.written[out])
        return false;
    return !operation().ins.empty() ||
           std::find(creators.begin(), creators.end(), operation().info->name) != creators.end();
  }

  size_t foldedBytes() const {
    size_t bytes = 0;
    for (uint32_t out : operation().outs)
      bytes += program.spec(out).bytes();
    return bytes;
  }

  /// Runs an op of constants now, once.
  void fold(const ttnn::Kernel &kernel, const ttnn::OpCall &call) {
    std::vector<const std::byte *> ins;
    std::vector<std::byte *> outs;
    for (uint32_t in : operation().ins)
      ins.push_back(in == absentOperand ? nullptr : exe.roots[exe.rootOf[in]].constant);
    for (size_t i = 0; i < call.outs.size(); ++i) {
      exe.prepared.push_back(sim::allocateHost(call.outs[i].bytes(), "a prepared constant"));
      outs.push_back(exe.prepared.back().get());
    }
    const auto scratch = sim::allocateHost(kernel.scratchBytes(), "a kernel's scratch memory");
    kernel.run({ins, outs, scratch.get()});
    for (size_t i = 0; i < outs.size(); ++i) {
      Executable::Root &root = exe.roots[operation().outs[i]];
      root.home = Executable::Home::Constant;
      root.constant = outs[i];
    }
    preparedBytes += foldedBytes();
  }

  void addStep(std::unique_ptr<ttnn::Kernel> kernel) {
    Executable::Step step;
    step.kernel = kernel.get();
    step.op = op;
    for (uint32_t out : operation().outs)
      step.devices = std::max(step.devices, shards(out));
    // An op without results (it only has an effect) still runs for each shard of its operands.
    if (operation().outs.empty())
      for (uint32_t in : operation().ins)
        if (in != absentOperand)
          step.devices = std::max(step.devices, shards(in));
    exe.scratchBytes = std::max(exe.scratchBytes, kernel->scratchBytes());
    exe.kernels.push_back(std::move(kernel));
    exe.steps.push_back(step);
  }

  /// Room on the device for the results, and the time the op takes there.
  void planDeviceMemory(int alias, const ttnn::OpCall &call) {
    const Operation &operation = this->operation();
    bool works = false;
    for (size_t i = 0; i < operation.outs.size(); ++i) {
      const uint32_t out = operation.outs[i];
      const sim::Footprint footprint = located([&] { return sim::footprint(chip, call.outs[i]); });
      works = works || !onHost(call.outs[i]);
      // A view that the device can have, too: same place, same pages.
      if (alias >= 0) {
        const uint32_t in = operation.ins[static_cast<size_t>(alias)];
        const TensorSpec &from = program.spec(in);
        if (groupOf[in] != MemoryPlan::none && from.memory == call.outs[i].memory &&
            from.layout == call.outs[i].layout && from.dtype == call.outs[i].dtype && references[groupOf[in]] > 0 &&
            sim::footprint(chip, from).bytesPerBank == footprint.bytesPerBank) {
          groupOf[out] = groupOf[in];
          ++references[groupOf[out]];
          continue;
        }
      }
      std::string label =
          "result of op " + std::to_string(op) + " (" + std::string(operation.info->name) + ") of " + exe.name();
      if (!operation.loc.empty())
        label += " at " + std::string(operation.loc.substr(0, 200));
      addGroup(out, op, footprint, std::move(label));
    }
    for (const auto &in : call.ins)
      works = works || (in && !onHost(*in));
    // Marks of the debug dialect are for those who look; the chip does not see them.
    if (!works || operation.info->name == "ttnn.constant" || operation.info->name.starts_with("debug."))
      return;
    located([&] {
      exe.costs[op] = operation.info->cost ? operation.info->cost(call) : sim::defaultCost(chip, call);
      return 0;
    });
    // The type of a product is that of its operands.
    DataType mathType = call.outs.empty() ? DataType::Float32 : call.outs[0].dtype;
    if (!call.ins.empty() && call.ins[0])
      mathType = call.ins[0]->dtype;
    exe.durations[op] = sim::estimate(chip, exe.costs[op], mathType);
    exe.totalDuration.cycles += exe.durations[op].cycles;
    exe.totalDuration.ns += exe.durations[op].ns;
  }

  void planOutputs() {
    const auto outputs = static_cast<uint32_t>(program.outputs.size());
    exe.outputIsHome.assign(outputs, false);
    exe.memory.outputGroups.assign(outputs, MemoryPlan::none);
    std::vector<bool> taken(exe.memory.groups.size(), false);
    for (uint32_t k = 0; k < outputs; ++k) {
      const uint32_t value = program.outputs[k];
      extend(value, opCount);
      Executable::Root &root = exe.roots[exe.rootOf[value]];
      if (!observed && root.home == Executable::Home::Arena) {
        root.home = Executable::Home::Output;
        root.index = k;
        exe.outputIsHome[k] = true;
      } else {
        exe.copies.push_back({k, value});
      }
      const uint32_t group = groupOf[value];
      if (group == MemoryPlan::none)
        continue;
      if (exe.memory.groups[group].input < 0 && !taken[group]) {
        taken[group] = true;
        exe.memory.outputGroups[k] = group;
        continue;
      }
      // An input or an earlier output: the caller gets a buffer of its own.
      addGroup(value, opCount, exe.memory.groups[group].footprint, "output " + std::to_string(k) + " of " + exe.name());
      exe.memory.outputGroups[k] = groupOf[value];
      taken.push_back(true);
      groupOf[value] = group;
    }
  }

  /// A program that does not fit an empty device never will, and is refused before host memory is taken for it.
  void checkMemory() const {
    sim::Memories empty(chip, device->options(), device->id());
    exe.memory.simulate(empty);
  }

  void placeValues() {
    if (observed) {
      // Hooks may look at every value until it is deallocated.
      for (uint32_t value = 0; value < program.values.size(); ++value)
        exe.roots[value].lastOp = opCount;
      for (const auto &[value, at] : deallocatedAt)
        exe.roots[value].lastOp = at;
      for (uint32_t output : program.outputs)
        exe.roots[output].lastOp = opCount;
    }
    std::vector<std::vector<uint32_t>> begins(opCount + 1), ends(opCount + 1);
    for (uint32_t value = 0; value < exe.roots.size(); ++value) {
      const Executable::Root &root = exe.roots[value];
      if (root.home != Executable::Home::Arena || exe.rootOf[value] != value)
        continue;
      begins[root.firstOp].push_back(value);
      ends[root.lastOp].push_back(value);
    }
    const size_t base = alignUp(exe.scratchBytes);
    sim::BankAllocator space(0, int64_t(1) << 62, sim::hostAlignment);
    size_t top = 0;
    for (uint32_t at = 0; at <= opCount; ++at) {
      for (uint32_t value : begins[at]) {
        Executable::Root &root = exe.roots[value];
        root.stride = alignUp(program.spec(value).bytes());
        const auto block = space.allocate(static_cast<int64_t>(root.stride * root.shards), {});
        if (!block)
          throw OutOfMemoryError(exe.name() + ": intermediate values need more than 2^62 bytes of host memory");
        root.offset = base + static_cast<size_t>(block->address);
        top = std::max(top, static_cast<size_t>(block->address + block->bytes));
      }
      for (uint32_t value : ends[at])
        space.deallocate(static_cast<int64_t>(exe.roots[value].offset - base));
    }
    exe.arenaBytes = base + top;
    exe.arena = sim::allocateHost(exe.arenaBytes, "the intermediate values of a program");
  }

  //===- Pointers ---------------------------------------------------------===//

  void bindSteps() {
    size_t ins = 0, outs = 0, meshIns = 0, meshOuts = 0;
    for (const Executable::Step &step : exe.steps) {
      const Operation &operation = program.operations[step.op];
      const size_t devices = step.mesh ? program.devices() : step.devices;
      ins += operation.ins.size() * devices;
      outs += operation.outs.size() * devices;
      meshIns += step.mesh ? operation.ins.size() : 0;
      meshOuts += step.mesh ? operation.outs.size() : 0;
    }
    // Spans point into these, so they must not move.
    exe.inPointers.reserve(ins);
    exe.outPointers.reserve(outs);
    exe.meshIns.reserve(meshIns);
    exe.meshOuts.reserve(meshOuts);
    for (Executable::Step &step : exe.steps)
      step.mesh ? bindMeshStep(step) : bindStep(step);
  }

  void bindStep(Executable::Step &step) {
    const Operation &operation = program.operations[step.op];
    step.firstIn = static_cast<uint32_t>(exe.inPointers.size());
    step.firstOut = static_cast<uint32_t>(exe.outPointers.size());
    step.ins = static_cast<uint32_t>(operation.ins.size());
    step.outs = static_cast<uint32_t>(operation.outs.size());
    for (uint32_t d = 0; d < step.devices; ++d) {
      for (uint32_t in : operation.ins)
        addIn(in, d);
      for (uint32_t out : operation.outs)
        addOut(out, d);
    }
  }

  void bindMeshStep(Executable::Step &step) {
    const Operation &operation = program.operations[step.op];
    step.firstMeshIn = static_cast<uint32_t>(exe.meshIns.size());
    step.firstMeshOut = static_cast<uint32_t>(exe.meshOuts.size());
    step.meshIns = static_cast<uint32_t>(operation.ins.size());
    step.meshOuts = static_cast<uint32_t>(operation.outs.size());
    for (uint32_t in : operation.ins) {
      const size_t first = exe.inPointers.size();
      const uint32_t count = in == absentOperand ? 0 : shards(in);
      for (uint32_t d = 0; d < count; ++d)
        addIn(in, d);
      exe.meshIns.emplace_back(exe.inPointers.data() + first, count);
    }
    for (uint32_t out : operation.outs) {
      const size_t first = exe.outPointers.size();
      for (uint32_t d = 0; d < shards(out); ++d)
        addOut(out, d);
      exe.meshOuts.emplace_back(exe.outPointers.data() + first, shards(out));
    }
  }

  void addIn(uint32_t value, uint32_t device) {
    const std::byte *pointer = nullptr;
    if (value != absentOperand)
      pointer = place(value, device, false, exe.inPointers.size());
    exe.inPointers.push_back(pointer);
  }

  void addOut(uint32_t value, uint32_t device) {
    // A result always has memory of its own, so the pointer is not one to a constant.
    exe.outPointers.push_back(const_cast<std::byte *>(place(value, device, true, exe.outPointers.size())));
  }

  const std::byte *place(uint32_t value, uint32_t device, bool isOut, size_t position) {
    const Executable::Root &root = exe.roots[exe.rootOf[value]];
    const uint32_t shard = root.shards == 1 ? 0 : device;
    switch (root.home) {
    case Executable::Home::Constant:
      return root.constant;
    case Executable::Home::Arena:
      return exe.arenaAddress(root, shard);
    case Executable::Home::Input:
    case Executable::Home::Output:
      exe.patches.push_back(
          {isOut, static_cast<uint32_t>(position), root.home == Executable::Home::Output, root.index, shard});
      return nullptr;
    case Executable::Home::Unset:
      break;
    }
    throw Error(exe.name() + ": value " + std::to_string(value) + " has no place");
  }

  /// Constants that only led to other constants are not needed any more. Kernels may hold on to their operands.
  void dropUnusedConstants() {
    std::vector<const std::byte *> used = keep;
    for (const std::byte *pointer : exe.inPointers)
      used.push_back(pointer);
    for (const auto &copy : exe.copies)
      used.push_back(exe.roots[exe.rootOf[copy.value]].constant);
    std::sort(used.begin(), used.end());
    std::erase_if(exe.prepared, [&](const std::shared_ptr<std::byte> &buffer) {
      return !std::binary_search(used.begin(), used.end(), buffer.get());
    });
  }

  Executable &exe;
  const Program &program;
  const Device &device;
  const sim::ChipDesc &chip;
  const bool observed;
  const uint32_t opCount;
  uint32_t op = 0;
  std::vector<uint32_t> groupOf;                            // per value, of device memory
  std::vector<uint32_t> references;                         // per group
  std::vector<std::pair<uint32_t, uint32_t>> deallocatedAt; // value, op
  std::vector<const std::byte *> keep;
  size_t preparedBytes = 0;
};

Executable::Executable(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode)
    : image(image), programIndex(programIndex), program(image.programs[programIndex]), device(device), mode(mode) {
  Planner(*this, device).plan();
}

std::string Executable::name() const { return "program \"" + std::string(program.name) + "\""; }

} // namespace tt::runtime
