//===- invoke.cpp - eager calls with a kernel cache -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A call is looked up by its operands and attributes, which a hit compares. A new call infers shapes and defaults and
// creates a kernel. Kernels for constants are kept with the constants, and freed with them.
//
//===----------------------------------------------------------------------===//

#include "api/observed.h"
#include "api/running.h"
#include "api/trace.h"
#include "api/unchanged.h"
#include "binary/call_key.h"
#include "core/op.h"
#include "tt/interrupt.h"
#include "tt/sim/published.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace tt::ttnn {
namespace {

/// The maximum number of kernels; a full cache is emptied, which never happens to a program with fixed shapes.
constexpr size_t cacheLimit = 4096;

//===----------------------------------------------------------------------===//
// Everything on which a kernel depends
//===----------------------------------------------------------------------===//

/// A constant operand: equal identities mean equal values.
struct Identity {
  uint64_t contents = 0; // 0: not a constant
  const std::byte *data = nullptr;
  bool operator==(const Identity &) const = default;
};

/// A call as given; of operands, the part that kernels may know.
struct Request {
  const Callable &callable;
  std::span<const Tensor> operands;
  const std::vector<NamedAttribute> &attributes;
  std::span<const Output> outputs;
  const Device &device;
  std::span<const uint32_t> meshShape;
  /// An operand that is treated as a constant, with which its forms are kept.
  std::optional<size_t> unchanged = std::nullopt;
  const ConstantStore *store = nullptr;

  /// Operands that the op writes are never treated as constants.
  Identity identity(size_t i) const {
    const auto &writes = callable.info->writes;
    if (!operands[i] || !operands[i].constant() || std::ranges::find(writes, static_cast<int>(i)) != writes.end())
      return {};
    return {operands[i].contents().id, operands[i].data()};
  }
  void addTo(CallKey &key) const {
    key.add(&callable);
    key.add(device ? device->id() + 1 : 0);
    key.add(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      const Identity constant = identity(i);
      key.add(operands[i] ? operands[i].description().get() : nullptr);
      key.add(constant.contents);
      key.add(constant.data);
    }
    key.add(attributes);
    key.add(outputs.size());
    for (const Output &output : outputs) {
      key.add(output.dtype);
      key.add(output.memory);
      key.add(output.layout);
    }
    for (const uint32_t size : meshShape)
      key.add(size);
  }
};

//===----------------------------------------------------------------------===//
// The cache of prepared calls
//===----------------------------------------------------------------------===//

/// Prepared calls by their operands and attributes. Two entries of the table fill a cache line; a hit also reads the
/// key in `PreparedCall`, which the call needs anyway.
class Cache {
public:
  std::shared_ptr<PreparedCall> find(const CallKey &key) const {
    const Entry *entry = entries.empty() ? nullptr : &entries[place(key.hash(), key.value())];
    return entry ? entry->prepared : nullptr;
  }
  /// Keeps a kernel for later calls. If several threads create the same one, all get that of the first.
  std::shared_ptr<PreparedCall> insert(uint64_t hash, std::shared_ptr<PreparedCall> prepared) {
    if (2 * (count + 1) > entries.size())
      grow();
    Entry &entry = entries[place(hash, prepared->key)];
    if (!entry.prepared) {
      entry = {hash, std::move(prepared)};
      ++count;
    }
    return entry.prepared;
  }
  size_t size() const { return count; }

private:
  struct alignas(32) Entry {
    uint64_t hash = 0;
    std::shared_ptr<PreparedCall> prepared;
  };
  /// The position of the key, or of its insertion. There are always empty entries.
  size_t place(uint64_t hash, std::span<const uint64_t> key) const {
    const size_t mask = entries.size() - 1;
    size_t at = hash & mask;
    while (entries[at].prepared && (entries[at].hash != hash || !std::ranges::equal(entries[at].prepared->key, key)))
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> before(std::max<size_t>(2, 2 * entries.size()));
    before.swap(entries);
    for (Entry &entry : before)
      if (entry.prepared) {
        const size_t at = place(entry.hash, entry.prepared->key);
        entries[at] = std::move(entry);
      }
  }

  std::vector<Entry> entries; // a power of two, at most half of them in use
  size_t count = 0;
};

/// For calls without constants. Never destroyed: tensors of static duration may outlive it.
struct SharedCache {
  ForkMutex mutex{3};
  Cache cache;
};
SharedCache &sharedCache() {
  static SharedCache *instance = new SharedCache;
  return *instance;
}

/// Kernels that are kept with values.
struct Kept {
  Cache cache;         // of kernels for constants
  Unchanged unchanged; // and for values that are no constants
};
Kept &keptWith(const Contents &contents) {
  if (!contents.kept)
    contents.kept = std::make_shared<Kept>();
  return *static_cast<Kept *>(contents.kept.get());
}

/// Calls f with the cache for kernels with these operands, and locks it: that of the first constant, or the global one.
template <class F> auto withCache(const Request &request, F f) {
  for (size_t i = 0; i < request.operands.size(); ++i)
    if (request.identity(i).contents != 0) {
      const Contents &contents = request.operands[i].contents();
      std::lock_guard lock(contents.keptMutex);
      return f(keptWith(contents).cache);
    }
  SharedCache &shared = sharedCache();
  std::lock_guard lock(shared.mutex);
  return f(shared.cache);
}

std::shared_ptr<PreparedCall> keep(const Request &request, uint64_t hash, std::shared_ptr<PreparedCall> prepared) {
  Cache dropped; // outside of the lock: kernels are not small
  return withCache(request, [&](Cache &cache) {
    if (cache.size() >= cacheLimit)
      std::swap(cache, dropped);
    return cache.insert(hash, std::move(prepared));
  });
}

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

void checkOperands(const Callable &callable, std::span<const Tensor> operands) {
  const auto &parameters = callable.operands;
  if (operands.size() == parameters.size() &&
      std::ranges::all_of(operands, [](const Tensor &operand) { return bool(operand); }))
    return;
  const bool variadic = !parameters.empty() && parameters.back()->variadic;
  if (operands.size() > parameters.size() && !variadic)
    failCall(callable,
             std::to_string(operands.size()) + " tensors; expected at most " + std::to_string(parameters.size()));
  for (size_t i = 0; i < std::max(operands.size(), parameters.size()); ++i) {
    const api::Parameter &parameter = *parameters[std::min(i, parameters.size() - 1)];
    if ((i >= operands.size() || !operands[i]) && !parameter.optional)
      failCall(callable, std::string(parameter.name) + ": the tensor is missing");
  }
}

/// Attributes in the form that kernels take: checked, with the call's defaults filled in.
Attributes completed(const Callable &callable, std::vector<NamedAttribute> attributes) {
  for (NamedAttribute &attribute : attributes)
    normalise(callable, attribute);
  for (const NamedAttribute &each : callable.defaults)
    if (std::ranges::none_of(attributes, [&](const auto &given) { return given.name == each.name; }))
      attributes.push_back(each);
  for (const AttributeSpec &spec : callable.info->attributes)
    if (!mayBeLeftOut(callable, spec) &&
        std::ranges::none_of(attributes, [&](const auto &given) { return given.name == spec.name; })) {
      const api::Parameter *parameter = callable.function->findOds(spec.name);
      failCall(callable, std::string(parameter ? parameter->name : spec.name) + ": a value is needed");
    }
  return Attributes(std::string(callable.info->name), std::move(attributes));
}

/// The size that -1 stands for.
void settleReshape(const Callable &callable, std::vector<int64_t> &shape, const Shape &in) {
  const auto open = std::ranges::find(shape, -1);
  if (open == shape.end())
    return;
  const int64_t elements = volume(in);
  int64_t known = 1;
  bool fits = true;
  for (auto it = shape.begin(); it != shape.end(); ++it)
    fits &= it == open || (*it >= 0 && !__builtin_mul_overflow(known, *it, &known));
  if (!fits || known == 0 || elements % known != 0)
    failCall(callable, "shape is " + toString(Shape(shape)) + ", which " + std::to_string(elements) + " elements of " +
                           toString(in) + " do not fill");
  *open = elements / known;
}

/// Resolves forms that a call may have and an op may not: -1 in the shape of a reshape, dimensions of a permutation
/// counted from the end, and omitted steps of a slice.
Attributes settled(const Callable &callable, Attributes given, std::span<const std::optional<TensorSpec>> ins) {
  const std::string_view op = callable.function->op;
  const bool reshape = op == "ttnn.reshape", permute = op == "ttnn.permute";
  const bool slice = op == "ttnn.slice_static" && !given.find<std::vector<int64_t>>("step");
  if ((!reshape && !permute && !slice) || ins.empty() || !ins[0])
    return given;
  const Shape &in = ins[0]->shape;
  std::vector<NamedAttribute> attributes(given.all().begin(), given.all().end());
  for (NamedAttribute &attribute : attributes)
    if (auto *values = std::get_if<std::vector<int64_t>>(&attribute.attribute.value)) {
      if (reshape && attribute.name == "shape")
        settleReshape(callable, *values, in);
      if (permute && attribute.name == "permutation")
        for (int64_t &dim : *values)
          dim += dim < 0 && dim >= -static_cast<int64_t>(in.size()) ? static_cast<int64_t>(in.size()) : 0;
    }
  if (slice)
    attributes.push_back({"step", {std::vector<int64_t>(in.size(), 1)}});
  return {std::string(op), std::move(attributes)};
}

/// The memory of results that are spread over a mesh.
std::shared_ptr<const sim::Partition> partitionOf(const Request &request) {
  if (request.device)
    return request.device->partition();
  for (const Tensor &operand : request.operands)
    if (operand && operand.description()->partition)
      return operand.description()->partition;
  return nullptr;
}

std::shared_ptr<PreparedCall> make(const Request &request) {
  const Callable &callable = request.callable;
  const OpInfo &info = *callable.info;
  checkOperands(callable, request.operands);
  (void)mostPackedBytes(); // reports a wrong setting with the first call
  auto prepared = std::make_shared<PreparedCall>();
  const std::vector<uint32_t> meshShape(request.meshShape.begin(), request.meshShape.end());

  OpCall call{std::string(info.name), {}, {}, {}, {1, 1}, {}};
  for (size_t i = 0; i < request.operands.size(); ++i) {
    const Tensor &operand = request.operands[i];
    prepared->ins.push_back(operand ? operand.description() : nullptr);
    call.ins.push_back(operand ? std::optional(operand.spec()) : std::nullopt);
    const bool constant = info.make && (request.identity(i).contents != 0 || request.unchanged == i);
    call.constantIns.push_back(constant ? operand.data() : nullptr);
    if (constant && request.unchanged != i) // what is taken for a constant may be written, which drops the kernel
      prepared->constants.push_back(operand.share());
  }
  call.constants = request.store;
  if (request.meshShape.size() == 2)
    call.meshShape = meshShape;
  if (request.device && request.device->options().exact)
    call.exact = Origin::Library;
  prepared->partition = partitionOf(request);
  if (request.device && request.device->options().strict)
    requireStrict(callable, call.ins, request.outputs, *request.device);
  call.attributes = settled(callable, completed(callable, request.attributes), call.ins);
  call.outs = resultSpecs(callable, call.ins, call.attributes, request.outputs, call.meshShape, request.device,
                          request.operands);
  if (!info.make && !info.makeMesh)
    failCall(callable, "this op cannot be run by this runtime");
  check(info, call);
  if (info.make) {
    prepared->kernel = makeKernel(info, call);
    if (const auto *packs = dynamic_cast<const PacksOperand *>(prepared->kernel.get()))
      prepared->packing = packs->packsInEveryRun();
  } else
    prepared->mesh = info.makeMesh(call);
  if (prepared->mesh && prepared->partition)
    prepared->exchange = planExchange(prepared->mesh->needs(), *prepared->partition, [&](uint32_t i) {
      return i < prepared->ins.size() && prepared->ins[i] && prepared->ins[i]->partition;
    });
  if (prepared->kernel && call.outs.size() == 1) {
    const int alias = prepared->kernel->alias();
    const auto index = static_cast<size_t>(alias);
    if (alias >= 0 && index < call.ins.size() && call.ins[index] &&
        call.ins[index]->distributed == call.outs[0].distributed &&
        prepared->kernel->aliasOffset() + call.outs[0].bytes() <= call.ins[index]->bytes())
      prepared->alias = alias;
  }
  if (request.device)
    prepared->duration = estimateOf(request.device->chip(), info, call, Origin::Library).duration;
  const bool single = call.meshShape[0] == 1 && call.meshShape[1] == 1;
  for (TensorSpec &spec : call.outs)
    spec.distributed = spec.distributed && !single;
  prepared->reproducible = isReproducible(info, call.outs);
  for (TensorSpec &spec : call.outs) {
    const sim::Footprint footprint = request.device ? sim::footprint(request.device->chip(), spec) : sim::Footprint();
    const bool isSpread = spec.distributed;
    prepared->results.push_back(
        {Tensor::describe(std::move(spec), isSpread ? meshShape : std::vector<uint32_t>(), prepared->partition),
         footprint});
  }
  prepared->label = "result of " + call.name;
  return prepared;
}

/// The same call with a kernel that keeps its form of an operand, if it was not written for some calls, or `plain`,
/// which packs it in every run.
std::shared_ptr<PreparedCall> withoutPacking(Request request, const std::shared_ptr<PreparedCall> &plain) {
  const auto [index, bytes] = *plain->packing;
  const Tensor &operand = request.operands[index];
  const Contents &contents = operand.contents();
  if (operand.shards() != 1 || !contents.tracked.load(std::memory_order_relaxed))
    return plain;
  std::lock_guard lock(contents.keptMutex);
  Unchanged &unchanged = keptWith(contents).unchanged;
  if (!unchanged.count(contents.version.load(std::memory_order_relaxed)))
    return plain;
  if (auto packed = unchanged.find(plain.get(), operand.data()))
    return packed;
  if (!unchanged.affordsForm(bytes))
    return plain;
  request.unchanged = index;
  request.store = &unchanged;
  const size_t forms = unchanged.formCount();
  auto packed = make(request);
  unchanged.add(plain, operand.share(), packed, unchanged.formCount() > forms ? bytes : 0);
  return packed;
}

} // namespace

static std::vector<Tensor> performed(const Callable &callable, std::span<const Tensor> operands,
                                     std::vector<NamedAttribute> attributes, std::span<const Output> outputs,
                                     const Device &givenDevice) {
  checkOperands(callable, operands);
  if (attributes.empty() && callable.unset)
    return callable.perform({callable, operands, *callable.unset, outputs, givenDevice});
  const Attributes complete = completed(callable, std::move(attributes));
  return callable.perform({callable, operands, complete, outputs, givenDevice});
}

/// Calls f with each operand on a mesh that the call writes, that has one value for all chips, and that gets one for
/// each, because another operand has.
template <class F>
static void forEachThatSpreads(const Callable &callable, std::span<const Tensor> operands, const Device &device, F f) {
  const auto isSpread = [](const Tensor &operand) { return operand && operand.shards() > 1; };
  if (callable.info->writes.empty() || !device || device->devices() < 2 || std::ranges::none_of(operands, isSpread))
    return;
  for (const int written : callable.info->writes)
    if (const auto i = static_cast<size_t>(written);
        i < operands.size() && operands[i] && operands[i].isOnDevice() && operands[i].shards() == 1)
      f(i);
}

/// The operands as they will be: a call is prepared and checked by their descriptions before one is changed.
static std::vector<Tensor> spreadOperands(const Callable &callable, std::span<const Tensor> operands,
                                          const Device &device) {
  std::vector<Tensor> result;
  forEachThatSpreads(callable, operands, device, [&](size_t i) {
    if (result.empty())
      result.assign(operands.begin(), operands.end());
    TensorSpec spec = operands[i].spec();
    spec.distributed = true;
    result[i] = Tensor::onDevice(std::move(spec), Tensor::Shards(device->devices(), operands[i].share()), device, {});
  });
  return result;
}

/// The same where a trace may record it.
static std::vector<Tensor> performedAndRecorded(const Callable &callable, std::span<const Tensor> operands,
                                                std::vector<NamedAttribute> attributes, std::span<const Output> outputs,
                                                const Device &givenDevice) {
  Device device = givenDevice;
  for (const Tensor &operand : operands)
    if (!device && operand && operand.isOnDevice())
      device = operand.device();
  if (!Recorder::records(device))
    return performed(callable, operands, std::move(attributes), outputs, givenDevice);
  if (callable.function->op == "ttnn.deallocate") // the trace needs it again
    return {};
  const std::vector<NamedAttribute> kept = attributes;
  std::vector<Tensor> results = performed(callable, operands, std::move(attributes), outputs, givenDevice);
  Recorder::add(callable, operands, kept, outputs, device, results);
  return results;
}

static std::vector<Tensor> run(const Callable &callable, std::span<const Tensor> operands,
                               std::vector<NamedAttribute> attributes, std::span<const Output> outputs,
                               const Device &givenDevice, const Into *into) {
  checkInterrupt();
  if (callable.perform) {
    if (!into)
      return Recorder::open.load(std::memory_order_relaxed)
                 ? performedAndRecorded(callable, operands, std::move(attributes), outputs, givenDevice)
                 : performed(callable, operands, std::move(attributes), outputs, givenDevice);
    const std::vector<Tensor> results = performed(callable, operands, std::move(attributes), outputs, givenDevice);
    if (results.size() != into->tensors.size())
      failCall(callable, std::string(into->parameter) + ": " + std::to_string(into->tensors.size()) +
                             " tensors; expected " + std::to_string(results.size()));
    for (size_t i = 0; i < results.size(); ++i)
      copyValues(results[i], into->tensors[i], callable.function->name);
    return {into->tensors.begin(), into->tensors.end()};
  }
  while (!operands.empty() && !operands.back())
    operands = operands.first(operands.size() - 1);
  const Device device = deviceOf(callable, operands, givenDevice);
  std::array<uint32_t, 2> ofDevice{};
  std::span<const uint32_t> meshShape;
  if (device) {
    ofDevice = {device->rows(), device->columns()};
    meshShape = ofDevice;
  }
  for (const Tensor &operand : operands)
    if (operand && operand.shards() > 1 && !operand.meshShape().empty())
      meshShape = operand.meshShape();

  const std::vector<Tensor> spread = spreadOperands(callable, operands, device);
  const std::span<const Tensor> described = spread.empty() ? operands : spread;
  const Request request{callable, described, attributes, outputs, device, meshShape};
  CallKey key;
  request.addTo(key);
  std::shared_ptr<PreparedCall> prepared = withCache(request, [&](const Cache &cache) { return cache.find(key); });
  if (!prepared) {
    std::vector<uint64_t> words(key.value().begin(), key.value().end());
    prepared = make(request);
    prepared->key = std::move(words);
    checkDistribution(callable, *prepared, described, device);
    // Properties that follow from values, and not from their description, do not apply to the next call.
    if (callable.function->op != "ttnn.slice_dynamic")
      prepared = keep(request, key.hash(), std::move(prepared));
  }
  if (prepared->packing)
    prepared = withoutPacking(request, prepared);

  if (into)
    checkInto(callable, *prepared, *into, device);
  const bool recorded = !into && Recorder::records(device);
  const auto &writes = callable.info->writes;
  forEachThatSpreads(callable, operands, device, [&](size_t i) { Tensor(operands[i]).spread(); });
  for (const int written : writes)
    if (static_cast<size_t>(written) < operands.size() && operands[static_cast<size_t>(written)])
      Tensor(operands[static_cast<size_t>(written)]).unshare();
  if (!device)
    return runPrepared(*prepared, operands, device, into, recorded);
  sim::endIfReset(*device);
  if (!device->isOpen())
    device->requireOpen(prepared->label->text().c_str());
  const sim::Busy busy(*device);
  std::vector<Tensor> results = runPrepared(*prepared, operands, device, into, recorded);
  device->addRun({0, 1, prepared->duration.cycles, prepared->duration.ns});
  if (recorded)
    Recorder::add(callable, operands, attributes, outputs, device, results);
  return results;
}

/// Runs a call and reports it to the observer.
static std::vector<Tensor> runObserved(const Callable &callable, std::span<const Tensor> operands,
                                       std::vector<NamedAttribute> attributes, std::span<const Output> outputs,
                                       const Device &givenDevice, const Into *into) {
  const ObservedCall call(operands);
  Device device = givenDevice;
  std::vector<std::optional<TensorSpec>> ins;
  for (const Tensor &operand : operands) {
    ins.push_back(operand ? std::optional(operand.spec()) : std::nullopt);
    if (!device && operand && operand.isOnDevice())
      device = operand.device();
  }
  const std::vector<NamedAttribute> given = attributes;
  std::vector<Tensor> results = run(callable, operands, std::move(attributes), outputs, givenDevice, into);
  const Attributes all = completed(callable, given);
  call.finish(callable, callable.perform ? all : settled(callable, all, ins), device, results);
  return results;
}

std::vector<Tensor> call(const Callable &callable, std::span<const Tensor> operands,
                         std::vector<NamedAttribute> attributes, std::span<const Output> outputs,
                         const Device &device) {
  if (callsAreObserved.load(std::memory_order_relaxed))
    return runObserved(callable, operands, std::move(attributes), outputs, device, nullptr);
  return run(callable, operands, std::move(attributes), outputs, device, nullptr);
}

std::vector<Tensor> callInto(const Callable &callable, std::span<const Tensor> into, std::string_view parameter,
                             std::span<const Tensor> operands, std::vector<NamedAttribute> attributes,
                             std::span<const Output> outputs, const Device &givenDevice) {
  std::vector<Output> asGiven(into.size());
  Device device = givenDevice;
  for (size_t i = 0; i < into.size(); ++i) {
    if (!into[i])
      failCall(callable, std::string(parameter) + ": the tensor is missing");
    if (!outputs.empty())
      asGiven[i] = outputs[std::min(i, outputs.size() - 1)];
    Output &output = asGiven[i];
    output.dtype = output.dtype.value_or(into[i].dtype());
    output.layout = output.layout.value_or(into[i].layout());
    output.memory = output.memory.value_or(into[i].memory_config());
    if (!device && operands.empty() && into[i].isOnDevice())
      device = into[i].device();
  }
  const Into results{into, parameter};
  std::vector<NamedAttribute> kept;
  if (Recorder::open.load(std::memory_order_relaxed))
    kept = attributes;
  auto prepared = callsAreObserved.load(std::memory_order_relaxed)
                      ? runObserved(callable, operands, std::move(attributes), asGiven, device, &results)
                      : run(callable, operands, std::move(attributes), asGiven, device, &results);
  if (const Device &on = into.empty() ? device : into[0].device(); Recorder::records(on))
    Recorder::add(callable, operands, kept, asGiven, on, prepared);
  return prepared;
}

size_t cachedKernels() {
  SharedCache &shared = sharedCache();
  std::lock_guard lock(shared.mutex);
  return shared.cache.size();
}

void clearKernelCache() {
  Cache dropped;
  SharedCache &shared = sharedCache();
  std::lock_guard lock(shared.mutex);
  std::swap(shared.cache, dropped);
}

} // namespace tt::ttnn
