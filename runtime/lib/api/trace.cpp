//===- trace.cpp - recorded calls -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/trace.h"
#include "api/callable.h"
#include "tt/fork.h"
#include "tt/interrupt.h"
#include "tt/sim/device.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tt::ttnn {
namespace {

/// Does recorded work again.
using Step = std::function<void()>;

/// A recorded call.
struct Recorded {
  const Callable *callable;
  std::vector<Tensor> operands;
  std::vector<NamedAttribute> attributes;
  std::vector<Output> outputs;
  std::vector<Tensor> results;
  Device device;

  void operator()() const {
    // Forms of constant values still exist, unless either was written to.
    const auto stays = [](const Tensor &tensor) { return !tensor || tensor.constant(); };
    if (!results.empty() && std::ranges::all_of(results, stays) && std::ranges::all_of(operands, stays))
      return;
    if (results.empty())
      call(*callable, operands, attributes, outputs, device);
    else
      callInto(*callable, results, "a result of the trace", operands, attributes, outputs, device);
  }
};

ForkMutex &tableMutex() {
  static auto *mutex = new ForkMutex{4};
  return *mutex;
}
/// Returns the traces that are recorded.
std::vector<Trace *> &table() {
  static auto *traces = new std::vector<Trace *>;
  return *traces;
}

} // namespace

struct Trace::Impl {
  std::weak_ptr<sim::MeshDevice> device;
  uint32_t number = 0; // of the device
  enum class State { Recorded, Ended, Released } state = State::Recorded;
  std::vector<Step> steps;

  void require(const Device &given, const char *what) const {
    if (!given)
      throw DeviceError(std::string(what) + ": no device");
    given->requireOpen(what);
    if (given->id() != number)
      throw DeviceError(std::string(what) + ": the trace is of device " + std::to_string(number) + ", not of device " +
                        std::to_string(given->id()));
    if (state == State::Released)
      throw DeviceError(std::string(what) + ": the trace was released");
  }
};

std::atomic<int> Recorder::open{0};

bool Recorder::recordsOn(const sim::MeshDevice &device) {
  std::lock_guard lock(tableMutex());
  return std::ranges::any_of(table(), [&](const Trace *trace) { return trace->impl->number == device.id(); });
}

void Recorder::add(const Callable &callable, std::span<const Tensor> operands,
                   std::span<const NamedAttribute> attributes, std::span<const Output> outputs, const Device &device,
                   std::span<const Tensor> results) {
  Trace::record(device, Recorded{&callable,
                                 {operands.begin(), operands.end()},
                                 {attributes.begin(), attributes.end()},
                                 {outputs.begin(), outputs.end()},
                                 {results.begin(), results.end()},
                                 device});
}

Trace::Trace() : impl(std::make_unique<Impl>()) {}

Trace::~Trace() {
  std::lock_guard lock(tableMutex());
  if (std::erase(table(), this))
    Recorder::open.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<Trace> Trace::begin(const Device &device) {
  constexpr const char *what = "begin_trace_capture";
  if (!device)
    throw DeviceError(std::string(what) + ": no device");
  device->requireOpen(what);
  auto created = std::make_shared<Trace>();
  created->impl->device = device;
  created->impl->number = device->id();
  std::lock_guard lock(tableMutex());
  for (const Trace *trace : table())
    if (trace->impl->number == device->id())
      throw DeviceError(std::string(what) + ": device " + std::to_string(device->id()) +
                        " records a trace already; end it first");
  table().push_back(created.get());
  Recorder::open.fetch_add(1, std::memory_order_relaxed);
  return created;
}

bool Trace::recordsOn(const Device &device) {
  constexpr const char *what = "is_trace_capture_active";
  if (!device)
    throw DeviceError(std::string(what) + ": no device");
  device->requireOpen(what);
  return Recorder::records(device);
}

void Trace::record(const Device &device, std::function<void()> again) {
  if (!Recorder::open.load(std::memory_order_relaxed) || !device)
    return;
  std::lock_guard lock(tableMutex());
  for (Trace *trace : table())
    if (trace->impl->number == device->id())
      trace->impl->steps.push_back(std::move(again));
}

void Trace::end(const Device &device) {
  impl->require(device, "end_trace_capture");
  std::lock_guard lock(tableMutex());
  if (!std::erase(table(), this))
    throw DeviceError("end_trace_capture: the trace has ended already");
  Recorder::open.fetch_sub(1, std::memory_order_relaxed);
  impl->state = Impl::State::Ended;
}

void Trace::execute(const Device &device) {
  constexpr const char *what = "execute_trace";
  impl->require(device, what);
  if (impl->state == Impl::State::Recorded)
    throw DeviceError(std::string(what) + ": the trace is still recorded; end_trace_capture ends it");
  if (Recorder::records(device))
    throw DeviceError(std::string(what) + ": device " + std::to_string(device->id()) +
                      " records another trace; end it first");
  for (const Step &again : impl->steps)
    again();
}

void Trace::release(const Device &device) {
  impl->require(device, "release_trace");
  {
    std::lock_guard lock(tableMutex());
    if (std::erase(table(), this))
      Recorder::open.fetch_sub(1, std::memory_order_relaxed);
  }
  impl->state = Impl::State::Released;
  impl->steps.clear();
}

size_t Trace::calls() const { return impl->steps.size(); }

void copyValues(const Tensor &from, const Tensor &to, std::string_view function) {
  const std::string name(function);
  const auto fail = [&](const std::string &what) { throw OpError("ttnn." + name + ": " + what); };
  if (!from || !to)
    fail("a tensor is missing");
  from.requireAllocated(("ttnn." + name).c_str());
  to.requireAllocated(("ttnn." + name).c_str());
  if (from.shape() != to.shape())
    fail("the tensor that is written has shape " + toString(to.shape()) + "; the values have " +
         toString(from.shape()));
  if (from.dtype() != to.dtype() || from.layout() != to.layout())
    fail("the tensor that is written is " + std::string(toString(to.dtype())) + " in " +
         std::string(toString(to.layout())) + "; the values are " + std::string(toString(from.dtype())) + " in " +
         std::string(toString(from.layout())));
  const bool becomesSpread =
      from.shards() > 1 && to.shards() == 1 && to.isOnDevice() && to.device()->devices() == from.shards();
  if (from.shards() != to.shards() && from.shards() != 1 && !becomesSpread)
    fail("tensors of " + std::to_string(from.shards()) + " and " + std::to_string(to.shards()) + " shards");
  Tensor target = to;
  if (becomesSpread)
    target.spread();
  target.unshare();
  for (size_t shard = 0; shard < to.shards(); ++shard) {
    const size_t source = from.shards() == 1 ? 0 : shard;
    if (to.has(shard) && from.has(source) && to.bytes())
      std::memmove(to.data(shard), from.data(source), to.bytes());
  }
  to.markWritten();
}

} // namespace tt::ttnn
