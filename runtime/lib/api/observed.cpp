//===- observed.cpp - calls that are observed -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/observed.h"

#include "api/planned.h"
#include "core/host_clock.h"

#include <algorithm>
#include <mutex>

namespace tt {
namespace {

using Observer = std::function<void(const runtime::CallRecord &)>;
struct Observing {
  std::mutex mutex;
  uint64_t next = 1;
  std::vector<std::pair<uint64_t, std::shared_ptr<const Observer>>> observers;
};
Observing &observing() {
  static Observing *instance = new Observing;
  return *instance;
}

} // namespace

uint64_t runtime::observeCalls(Observer observer) {
  Observing &all = observing();
  std::lock_guard lock(all.mutex);
  all.observers.emplace_back(all.next, std::make_shared<const Observer>(std::move(observer)));
  ttnn::callsAreObserved.store(true, std::memory_order_relaxed);
  return all.next++;
}

void runtime::endObservingCalls(uint64_t number) {
  Observing &all = observing();
  std::shared_ptr<const Observer> dropped; // after the lock: its destructor may take others
  std::lock_guard lock(all.mutex);
  const auto at =
      std::ranges::find(all.observers, number, &std::pair<uint64_t, std::shared_ptr<const Observer>>::first);
  if (at == all.observers.end())
    throw Error("end_observing_calls: there is no observer " + std::to_string(number));
  dropped = std::move(at->second);
  all.observers.erase(at);
  ttnn::callsAreObserved.store(!all.observers.empty(), std::memory_order_relaxed);
}

namespace ttnn {

std::optional<ObservedCall::Seen> ObservedCall::seen(const Tensor &tensor) {
  if (!tensor)
    return std::nullopt;
  Seen found{tensor.spec(), tensor.contents().id, std::nullopt};
  if (tensor.isOnDevice())
    found.address = tensor.address();
  return found;
}

ObservedCall::ObservedCall(std::span<const Tensor> operands) {
  for (const Tensor &operand : operands)
    ins.push_back(seen(operand));
  startNs = hostNow();
}

void ObservedCall::write(runtime::Json &json, std::span<const std::optional<Seen>> tensors) {
  json.begin('[');
  for (const std::optional<Seen> &tensor : tensors) {
    if (!tensor) {
      json.raw("null");
      continue;
    }
    json.begin('{').key("id").number(tensor->id);
    if (tensor->address)
      json.key("address").number(*tensor->address);
    json.key("desc");
    runtime::writeSpec(json, tensor->spec);
    json.end('}');
  }
  json.end(']');
}

void ObservedCall::finish(const Callable &callable, const Attributes &attributes, const Device &device,
                          std::span<const Tensor> results) const {
  const int64_t took = hostNow() - startNs;
  std::vector<std::pair<uint64_t, std::shared_ptr<const Observer>>> observers;
  {
    std::lock_guard lock(observing().mutex);
    observers = observing().observers;
  }
  if (observers.empty())
    return;
  std::vector<std::optional<Seen>> outs;
  for (const Tensor &result : results)
    outs.push_back(seen(result));
  const OpInfo &info = *callable.info;
  runtime::CallRecord record;
  record.device = device;
  record.startNs = startNs;
  record.perf.name = info.name;
  record.perf.hostNs = took;
  record.perf.cost.launched = false;
  std::vector<ttmlir::plan::Step> plan;
  if (device && !callable.perform) {
    OpCall call{std::string(info.name), {}, {}, attributes, {device->rows(), device->columns()}, {}};
    for (const std::optional<Seen> &in : ins)
      call.ins.push_back(in ? std::optional(in->spec) : std::nullopt);
    for (const std::optional<Seen> &out : outs)
      if (out)
        call.outs.push_back(out->spec);
    const Estimate estimate = estimateOf(device->chip(), info, call, Origin::Library);
    record.perf.cost = estimate.cost;
    record.perf.cycles = estimate.duration.cycles;
    record.perf.deviceNs = estimate.duration.ns;
    record.perf.bound = estimate.duration.bound;
    record.perf.uncertaintyNs = estimate.duration.uncertaintyNs;
    record.perf.circularBytes = circularBytes(device->chip(), info, call);
    plan = planOf(device->chip(), call);
  }
  runtime::Json json;
  json.begin('{').key("name").string(info.name).key("ins");
  write(json, ins);
  json.key("outs");
  write(json, outs);
  json.key("attributes");
  runtime::writeAttributes(json, attributes);
  runtime::writePlan(json.key("plan"), plan);
  json.end('}');
  record.json = std::move(json.text);
  for (const auto &[number, observer] : observers)
    (*observer)(record);
}

} // namespace ttnn
} // namespace tt
