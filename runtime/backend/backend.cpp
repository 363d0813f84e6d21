//===- backend.cpp - running device images --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "queues.h"
#include "status.h"
#include "tt_backend.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace tt::backend {
namespace {

/// The time that finish() gives a waiting program to continue.
constexpr std::chrono::milliseconds grace(100);

TensorSpec onHost(DataType dtype, const Shape &shape) { return {dtype, shape, Layout::RowMajor, {}, false}; }

class Backend final : public tt_backend, Watch {
public:
  Backend(std::shared_ptr<tt_device_image> model) : model(std::move(model)), process(::getpid()) {
    for (const Model &each : image().models) {
      inputs.insert(inputs.end(), each.inputs.begin(), each.inputs.end());
      outputs.insert(outputs.end(), each.outputs.begin(), each.outputs.end());
    }
  }

  ~Backend() override {
    // A forked child has no thread, and the shared queues continue.
    if (process != ::getpid())
      worker.release();
    else if (worker)
      stop();
  }

  DEVICE_STATUS_CODE initialize() override {
    return guarded("initialize", [&] {
      if (queues)
        throw Error("the backend is initialized already");
      std::filesystem::create_directories(model->get_output_path());
      auto created = Queues::create(Queues::pathFor(model->get_output_path()), inputs, outputs);
      try {
        parameters.clear();
        for (const Model &each : image().models)
          parameters.push_back(onDevice(each));
      } catch (...) {
        created->close();
        throw;
      }
      queues = std::move(created);
      process = ::getpid();
      isStopping = false;
      failure.clear();
      worker = std::make_unique<std::thread>([this] { work(); });
    });
  }

  DEVICE_STATUS_CODE finish() override {
    return guarded("finish", [&] {
      requireInitialized();
      const std::string why = stop();
      if (!why.empty())
        throw Error(why);
    });
  }

  const std::vector<std::string> &get_programs() const override { return image().programNames; }

  DEVICE_STATUS_CODE run_program(const std::string &name,
                                 const std::map<std::string, std::string> &parameters) override {
    return guarded("run_program", [&] {
      requireInitialized();
      const auto &names = image().programNames;
      const auto found = std::ranges::find(names, name);
      if (found == names.end())
        throw Error("there is no program " + name + "; there are " + listed(names));
      const uint64_t count = loops(parameters);
      std::lock_guard lock(mutex);
      if (!failure.empty())
        throw Error(failure);
      runs.push_back({static_cast<size_t>(found - names.begin()), count});
      changed.notify_all();
    });
  }

  DEVICE_STATUS_CODE wait_for_idle(int timeout_in_seconds) override {
    return guarded("wait_for_idle", [&] {
      requireInitialized();
      std::unique_lock lock(mutex);
      const auto idle = [&] { return runs.empty() && !isBusy; };
      while (!idle()) {
        // Time in which a program runs does not count: only waits are given up.
        const std::string what = waitsFor;
        if (what.empty())
          changed.wait(lock);
        else if (const auto moved = [&] { return idle() || waitsFor != what; }; timeout_in_seconds < 0)
          changed.wait(lock, moved);
        else if (!changed.wait_for(lock, std::chrono::seconds(timeout_in_seconds), moved))
          throw TimeoutError(what);
      }
      if (!failure.empty())
        throw Error(failure);
    });
  }

  tt_dram_io_desc get_queue_descriptor(const std::string &name) const override {
    const Port &port = image().port(name);
    tt_dram_io_desc found;
    found.netlist_path = Queues::pathFor(model->get_output_path());
    found.queue_name = name;
    found.input_count = static_cast<uint32_t>(port.entries());
    found.bufq_num_slots = static_cast<uint32_t>(port.entries() * Queues::slotsOf(port));
    found.bufq_entry_size = static_cast<uint32_t>(port.bytes() / port.entries());
    found.bufq_target_format = formatOf(port.dtype);
    found.io_type = IO_TYPE::Queue;
    return found;
  }

private:
  struct Run {
    size_t model;
    uint64_t count;
  };

  const Image &image() const { return model->contents(); }

  void requireInitialized() const {
    if (!queues || process != ::getpid())
      throw Error("the backend is not initialized in this process");
  }

  static std::string listed(const std::vector<std::string> &names) {
    std::string found;
    for (const std::string &each : names)
      found += (found.empty() ? "" : ", ") + each;
    return found.empty() ? "none" : found;
  }

  static uint64_t loops(const std::map<std::string, std::string> &parameters) {
    uint64_t count = 1;
    for (const auto &[name, text] : parameters) {
      if (name != "$p_loop_count")
        throw Error("there is no parameter " + name + "; there is $p_loop_count");
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
      if (error != std::errc() || end != text.data() + text.size())
        throw Error("$p_loop_count is \"" + text + "\"; expected a number of microbatches");
    }
    return count;
  }

  /// The device with a model's arithmetic, which is a property of the device and not of the program.
  const runtime::Device &deviceOf(const Model &of) {
    runtime::Device &device = devices[of.exact];
    if (!device) {
      sim::MeshOptions options;
      options.exact = of.exact;
      device = runtime::openMeshDevice(options);
    }
    return device;
  }

  /// The parameters of a model, in the memory and form that its program requires.
  runtime::Tensors onDevice(const Model &of) {
    const runtime::Device &device = deviceOf(of);
    runtime::Tensors found(of.parameters.begin(), of.parameters.end());
    for (size_t i = 0; i < of.arguments.size(); ++i)
      if (const size_t number = of.arguments[i]; number < found.size()) {
        found[number] = runtime::toLayout(found[number], device, runtime::inputSpec(of.binary, 0, i));
        found[number].setParameter();
      }
    return found;
  }

  //
  // The thread that runs programs
  //

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return isStopping || !runs.empty(); });
      if (runs.empty())
        return;
      const Run run = runs.front();
      runs.pop_front();
      if (!failure.empty())
        continue;
      isBusy = true;
      lock.unlock();
      std::string why;
      try {
        for (uint64_t i = 0; i < run.count; ++i)
          runOnce(run.model);
      } catch (const std::exception &error) {
        why = error.what();
      }
      lock.lock();
      isBusy = false;
      if (!why.empty()) {
        failure = image().programNames[run.model] + (waitsFor.empty() ? " has failed: " + why : " waits: " + waitsFor);
        runs.clear();
        queues->fail(failure);
      }
      waitsFor.clear();
      changed.notify_all();
    }
  }

  void runOnce(size_t number) {
    const Model &of = image().models[number];
    std::vector<Queues::Row *> rows;
    for (const Port &each : of.inputs) {
      rows.push_back(&queues->row(each.name, true));
      queues->wait(*rows.back(), each.entries(), Queues::forever, this);
    }
    std::vector<runtime::Tensor> given;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Port &port = of.inputs[i];
      given.push_back(runtime::Tensor::onHost(onHost(port.dtype, port.shape)));
      queues->peek(*rows[i], given.back().data(), port.entries(), 0);
    }
    for (size_t i = 0; i < rows.size(); ++i)
      queues->pop(*rows[i], of.inputs[i].entries(), 0);
    std::vector<runtime::Tensor> results;
    queues->setRunning(true);
    try {
      results = submitted(number, given);
    } catch (...) {
      queues->setRunning(false);
      throw;
    }
    queues->setRunning(false);
    for (size_t i = 0; i < results.size(); ++i)
      queues->push(queues->row(of.outputs[i].name, false), results[i].data(), of.outputs[i].entries(), Queues::forever,
                   this);
  }

  std::vector<runtime::Tensor> submitted(size_t number, const std::vector<runtime::Tensor> &given) {
    const Model &of = image().models[number];
    const runtime::Program &program = of.binary.program(0);
    std::vector<runtime::Tensor> arguments;
    for (size_t i = 0; i < of.arguments.size(); ++i) {
      const size_t from = of.arguments[i], count = of.parameters.size();
      if (from < count) {
        arguments.push_back(parameters[number][from]);
        continue;
      }
      const TensorSpec &expected = program.spec(program.inputs[i]);
      const runtime::Tensor cast = runtime::castTensor(given[from - count], expected.dtype);
      arguments.push_back(cast.withSpec(onHost(expected.dtype, expected.shape)));
    }
    const runtime::Tensors found = runtime::submit(deviceOf(of), of.binary, 0, arguments);
    std::vector<runtime::Tensor> results;
    for (size_t i = 0; i < of.results.size(); ++i)
      results.push_back(runtime::castTensor(runtime::toHost(found[of.results[i]]).front(), of.outputs[i].dtype));
    return results;
  }

  void waits(const std::string &forWhat) override {
    std::lock_guard lock(mutex);
    waitsFor = forWhat;
    changed.notify_all();
  }
  void goesOn() override {
    std::lock_guard lock(mutex);
    waitsFor.clear();
    changed.notify_all();
  }

  /// Ends the thread and closes everything. Returns the unfinished work, and the reason.
  std::string stop() {
    std::string why;
    {
      std::unique_lock lock(mutex);
      isStopping = true;
      changed.notify_all();
      const auto idle = [&] { return runs.empty() && !isBusy; };
      while (!idle()) {
        const std::string what = waitsFor;
        const auto moved = [&] { return idle() || waitsFor != what; };
        if (what.empty())
          changed.wait(lock, moved);
        else if (!changed.wait_for(lock, grace, moved))
          break;
      }
      why = waitsFor.empty() ? failure : "a program waits: " + waitsFor;
    }
    queues->close();
    worker->join();
    worker.reset();
    queues.reset();
    parameters.clear();
    for (runtime::Device &device : devices)
      if (device) {
        runtime::closeMeshDevice(device);
        device.reset();
      }
    return why;
  }

  const std::shared_ptr<tt_device_image> model;
  std::vector<Port> inputs, outputs;
  pid_t process;
  runtime::Device devices[2];               // with the default and with exact arithmetic, of those that models want
  std::vector<runtime::Tensors> parameters; // of each model
  std::shared_ptr<Queues> queues;
  std::unique_ptr<std::thread> worker;

  std::mutex mutex; // of everything below
  std::condition_variable changed;
  std::deque<Run> runs;
  bool isBusy = false, isStopping = false;
  std::string waitsFor; // what the thread waits for
  std::string failure;
};

} // namespace
} // namespace tt::backend

std::shared_ptr<tt_backend> tt_backend::create(const std::shared_ptr<tt::tt_device_image> &model,
                                               const tt::tt_backend_config &config) {
  const auto fail = [&](const std::string &why) { throw tt::Error(model->contents().path + ": " + why); };
  if (!model)
    throw tt::Error("tt_backend::create gets no image");
  for (const tt::backend::Model &each : model->contents().models) {
    if (config.arch != tt::ARCH::Invalid && config.arch != each.arch)
      fail(std::string("compiled for ") + (each.arch == tt::ARCH::GRAYSKULL ? "Grayskull" : "Wormhole_B0") +
           "; the backend is for another architecture");
    for (const auto &[chip, rows] : config.harvested_rows) {
      std::vector<uint32_t> sorted = rows;
      std::ranges::sort(sorted);
      if (sorted != each.harvestedRows)
        fail("compiled for other harvested rows than those of chip " + std::to_string(chip));
    }
  }
  return std::make_shared<tt::backend::Backend>(model);
}
