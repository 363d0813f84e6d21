//===- profiler.cpp - runs of programs for JAX's profiler -----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// While jax.profiler takes a profile, every run is recorded with the times of its ops. They become an XSpace, the
// message that XProf and TensorBoard read: one plane for each chip, with lines of programs, of ops on the simulated
// chip (estimated), and of ops on the host that simulates it (measured).
//
//===----------------------------------------------------------------------===//

#include "profiler.h"
#include "wire.h"

#include <atomic>
#include <chrono>
#include <map>

namespace {

//===- The interface of profilers in plugins, version 1 -------------------===//

struct Profiler;
template <class T> struct Args {
  size_t size;
  T fields;
};
struct Fault {
  void *priv;
  void *error;
};
struct ErrorMessage {
  void *priv;
  const void *error;
  const char *message;
  size_t size;
};
struct ErrorCode {
  void *priv;
  const void *error;
  int code;
};
struct Create {
  const char *options;
  size_t optionsSize;
  Profiler *profiler;
};
struct Own {
  Profiler *profiler;
};
struct Collect {
  Profiler *profiler;
  uint8_t *buffer;
  size_t size;
};
/// Functions return an error or nothing; none of these fails.
struct Api {
  size_t size;
  void *priv;
  void (*errorDestroy)(Args<Fault> *);
  void (*errorMessage)(Args<ErrorMessage> *);
  void *(*errorCode)(Args<ErrorCode> *);
  void *(*create)(Args<Create> *);
  void *(*destroy)(Args<Own> *);
  void *(*start)(Args<Own> *);
  void *(*stop)(Args<Own> *);
  void *(*collect)(Args<Collect> *);
};
struct Extension {
  PJRT_Extension_Base base;
  Api *api;
  int64_t context; // of arguments only
};

//===- Runs ---------------------------------------------------------------===//

struct Run {
  int device;
  std::string program;
  int64_t start, end; // ns since 1970
  std::shared_ptr<const tt::runtime::RunReport> report;
};

std::mutex mutex; // of what follows
std::vector<Run> runs;
std::atomic<int> active = 0;

struct Profiler {
  std::string data; // the message, once it was requested
  bool started = false, collected = false;
};

//===- The message --------------------------------------------------------===//

using tt::pjrt::Message;

/// The numbers of names in a plane.
class Names {
public:
  explicit Names(uint32_t field) : field(field) {}
  uint64_t of(std::string_view name) { return known.try_emplace(std::string(name), known.size() + 1).first->second; }
  void writeTo(Message &plane) const {
    for (const auto &[name, id] : known)
      plane.message(field, Message().number(1, id).message(2, Message().number(1, id).text(2, name)));
  }

private:
  uint32_t field;
  std::map<std::string, uint64_t> known;
};

struct Line {
  std::string_view name;
  Message events;
  int64_t start = 0; // of the line, ns since 1970

  /// `at`: since the line's start. As a double, a time since 1970 is exact to 256 ns only.
  void add(uint64_t name_, double at, double ns, const Message &stats) {
    events.message(4, Message()
                          .number(1, name_)
                          .number(2, static_cast<uint64_t>(std::max(0.0, at) * 1000))
                          .number(3, static_cast<uint64_t>(ns * 1000))
                          .append(stats));
  }
};

Message planeOf(int device, const std::vector<Run> &all) {
  Names names(4), stats(5);
  const uint64_t cycles = stats.of("cycles"), bytes = stats.of("bytes_accessed"), place = stats.of("source");
  Line programs{"XLA Modules", {}}, chip{"XLA Ops", {}}, host{"Simulator", {}};
  double free = 0; // when the chip is done with the run before, since the first began
  bool first = true;
  for (const Run &run : all) {
    if (run.device != device)
      continue;
    if (first)
      programs.start = chip.start = host.start = run.start;
    first = false;
    const auto began = static_cast<double>(run.start - programs.start);
    programs.add(names.of(run.program), began, static_cast<double>(run.end - run.start), {});
    if (!run.report)
      continue;
    double onHost = began, onChip = std::max(free, began);
    for (const tt::runtime::OpPerf &op : run.report->ops) {
      const uint64_t name = names.of(op.name);
      Message more;
      more.message(4, Message().number(1, cycles).number(4, static_cast<uint64_t>(op.cycles)));
      more.message(4, Message().number(1, bytes).number(4, static_cast<uint64_t>(op.cost.dramBytes + op.cost.l1Bytes)));
      std::string_view source = op.loc;
      if (source.starts_with("loc(") && source.ends_with(")"))
        source = source.substr(4, source.size() - 5);
      if (!source.empty())
        more.message(4, Message().number(1, place).text(5, source));
      chip.add(name, onChip, op.deviceNs, more);
      host.add(name, onHost, static_cast<double>(op.hostNs), {});
      onChip += op.deviceNs;
      onHost += static_cast<double>(op.hostNs);
    }
    free = onChip;
  }
  Message plane;
  plane.number(1, static_cast<uint64_t>(device) + 1).text(2, "/device:tt:" + std::to_string(device));
  uint64_t number = 1;
  for (const Line *line : {&programs, &chip, &host})
    plane.message(3, Message()
                         .number(1, number++)
                         .text(2, line->name)
                         .number(3, static_cast<uint64_t>(line->start))
                         .append(line->events));
  names.writeTo(plane);
  stats.writeTo(plane);
  return plane;
}

//===- Functions ----------------------------------------------------------===//

void *create(Args<Create> *args) {
  args->fields.profiler = new Profiler;
  return nullptr;
}

void *stop(Args<Own> *args) {
  std::lock_guard lock(mutex);
  Profiler &profiler = *args->fields.profiler;
  if (!std::exchange(profiler.started, false))
    return nullptr;
  if (--active == 0)
    tt::runtime::setPerfRecording(false);
  return nullptr;
}

void *destroy(Args<Own> *args) {
  stop(args);
  delete args->fields.profiler;
  return nullptr;
}

void *start(Args<Own> *args) {
  std::lock_guard lock(mutex);
  args->fields.profiler->started = true;
  runs.clear();
  ++active;
  tt::runtime::setPerfRecording(true);
  return nullptr;
}

/// Returns the profiler's own bytes; a caller that has allocated memory calls again, with it.
void *collect(Args<Collect> *args) {
  Profiler &profiler = *args->fields.profiler;
  const bool first = !std::exchange(profiler.collected, true);
  if (first) {
    std::lock_guard lock(mutex);
    Message space;
    std::map<int, bool> devices;
    for (const Run &run : runs)
      devices[run.device] = true;
    for (const auto &[device, used] : devices)
      space.message(1, planeOf(device, runs));
    profiler.data = space.bytes();
    runs.clear();
  }
  auto *own = reinterpret_cast<uint8_t *>(profiler.data.data());
  if (first || !args->fields.buffer)
    args->fields.buffer = own;
  else if (args->fields.buffer != own)
    std::copy(profiler.data.begin(), profiler.data.end(), reinterpret_cast<char *>(args->fields.buffer));
  args->fields.size = profiler.data.size();
  return nullptr;
}

} // namespace

namespace tt::pjrt {

int64_t wallClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool profiling() { return active.load(std::memory_order_relaxed) > 0; }

void recordRun(const PJRT_Device &device, const std::string &program, int64_t start,
               std::shared_ptr<const runtime::RunReport> report) {
  std::lock_guard lock(mutex);
  if (active)
    runs.push_back({device.description->id, program, start, wallClock(), std::move(report)});
}

PJRT_Extension_Base *profilerExtension() {
  static Api api{sizeof(Api),
                 nullptr,
                 [](Args<Fault> *) {},
                 [](Args<ErrorMessage> *args) { args->fields.message = "", args->fields.size = 0; },
                 [](Args<ErrorCode> *args) -> void * {
                   args->fields.code = 0;
                   return nullptr;
                 },
                 create,
                 destroy,
                 start,
                 stop,
                 collect};
  static Extension extension{{sizeof(Extension), PJRT_Extension_Type_Profiler, nullptr}, &api, 0};
  return &extension.base;
}

} // namespace tt::pjrt
