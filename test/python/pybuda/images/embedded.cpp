// SPDX-License-Identifier: Apache-2.0
//
// Device images from C++, as tests ask for it:
//
//   embedded IMAGE OUTPUT_PATH COMMAND...
//
// Commands run in order; each prints a line. Tensors are files of bytes.
//
//   create                  a backend; the image is for a chip with harvested row 1 when "create-harvested"
//   init, finish, idle N    of the backend; idle waits N seconds
//   names                   inputs, outputs and programs
//   describe QUEUE          shape and format of its tensors
//   push QUEUE FILE, push-one QUEUE FILE, push-as QUEUE FILE FORMAT SIZE..., push-dummy QUEUE FILE
//   run PROGRAM N           asks for N microbatches
//   get QUEUE FILE, get-one QUEUE FILE, pop QUEUE, pop-one QUEUE
//   push-numbers QUEUE FIRST COUNT LOG    tensors of one number each; LOG gets "begin N" before, "done N" behind a push
//   get-numbers QUEUE LOG END             LOG gets "got N" and "popped N", until there is a file END and nothing more
//   seconds N               timeout of what follows
//   sleep MS, wait-for FILE, touch FILE, cd FOLDER
#include "io_utils.h"
#include "tt_backend.hpp"
#include "tt_backend_api.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <thread>

namespace {

using tt::DEVICE_STATUS_CODE;
namespace utils = tt::io::utils;

std::vector<char> contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t elements(const tt::tt_PytorchTensorDesc &tensor) {
  size_t count = 1;
  for (unsigned i = 0; i < tensor.dim; ++i)
    count *= tensor.shape[i];
  return count;
}

void write(const std::string &path, const tt::tt_PytorchTensorDesc &tensor) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char *>(tensor.ptr), std::streamsize(elements(tensor) * tensor.itemsize));
}

const char *toString(DEVICE_STATUS_CODE code) {
  return code == DEVICE_STATUS_CODE::Success        ? "Success"
         : code == DEVICE_STATUS_CODE::RuntimeError ? "RuntimeError"
                                                    : "TimeoutError";
}

class Program {
public:
  Program(const std::string &image, const std::string &output)
      : model(std::make_shared<tt::tt_device_image>(image, output)) {}

  void run(std::vector<std::string> words) {
    for (given = std::move(words); at < given.size();) {
      const std::string command = next();
      std::cout << command << ": " << std::flush;
      std::cout << toString(done(command)) << std::endl;
    }
  }

private:
  std::string next() { return given.at(at++); }

  /// Requested once, as programs do.
  const tt::tt_dram_io_desc &queue(const std::string &name) {
    const auto found = queues.find(name);
    return found != queues.end() ? found->second
                                 : queues.emplace(name, utils::get_queue_descriptor(backend, name)).first->second;
  }

  DEVICE_STATUS_CODE done(const std::string &command) {
    if (command == "create" || command == "create-harvested") {
      tt::tt_backend_config config;
      if (command == "create-harvested")
        config.harvested_rows[0] = {1};
      backend = tt_backend::create(model, config);
    } else if (command == "init")
      return backend->initialize();
    else if (command == "finish")
      return backend->finish();
    else if (command == "idle")
      return backend->wait_for_idle(std::stoi(next()));
    else if (command == "names") {
      for (const auto *names :
           {&model->get_graph_input_names(), &model->get_graph_output_names(), &backend->get_programs()}) {
        for (const std::string &name : *names)
          std::cout << name << " ";
        std::cout << "| ";
      }
    } else if (command == "describe") {
      const std::string name = next();
      const auto tensor = utils::get_tensor_descriptor(name, model, queue(name));
      for (unsigned i = 0; i < tensor.dim; ++i)
        std::cout << tensor.shape[i] << " ";
      std::cout << "format " << int(tensor.format) << " ";
    } else if (command == "push" || command == "push-one" || command == "push-as")
      return push(command);
    else if (command == "push-dummy") {
      const std::string name = next();
      const auto of = queue(name);
      auto tensor = utils::get_tensor_descriptor(name, model, of);
      utils::fill_tensor_with_data(name, tensor);
      write(next(), tensor);
      const auto code = tt::backend::push_input(of, tensor, false, seconds);
      return code == DEVICE_STATUS_CODE::Success ? tt::backend::free_tensor(tensor) : code;
    } else if (command == "run") {
      const std::string program = next();
      return backend->run_program(program, {{"$p_loop_count", next()}});
    } else if (command == "get" || command == "get-one") {
      const auto of = queue(next());
      const std::string path = next();
      tt::tt_PytorchTensorDesc tensor;
      const auto code = tt::backend::get_output(of, tensor, command == "get-one", seconds);
      if (code != DEVICE_STATUS_CODE::Success)
        return code;
      write(path, tensor);
      return tt::backend::free_tensor(tensor);
    } else if (command == "pop" || command == "pop-one")
      return tt::backend::pop_output(queue(next()), command == "pop-one", seconds);
    else if (command == "push-numbers")
      return pushNumbers();
    else if (command == "get-numbers")
      return getNumbers();
    else if (command == "seconds")
      seconds = std::stoi(next());
    else if (command == "sleep")
      std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(next())));
    else if (command == "wait-for") {
      const std::string path = next();
      while (!std::filesystem::exists(path))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } else if (command == "touch")
      std::ofstream(next()).put('x');
    else if (command == "cd")
      std::filesystem::current_path(next());
    else
      throw std::runtime_error("no command " + command);
    return DEVICE_STATUS_CODE::Success;
  }

  DEVICE_STATUS_CODE push(const std::string &command) {
    const std::string name = next();
    const auto of = queue(name);
    auto tensor = utils::get_tensor_descriptor(name, model, of);
    const std::vector<char> values = contents(next());
    tensor.ptr = values.data();
    if (command == "push-one" && tensor.dim)
      tensor.shape[0] = 1;
    if (command == "push-as") {
      tensor.format = tt::DataFormat(std::stoi(next()));
      tensor.itemsize = std::stoul(next());
      for (tensor.dim = 0; at < given.size() && std::isdigit(given[at][0]); ++tensor.dim)
        tensor.shape[tensor.dim] = std::stoul(next());
      for (unsigned i = tensor.dim, stride = tensor.itemsize; i-- > 0; stride *= tensor.shape[i])
        tensor.strides[i] = stride;
    }
    return tt::backend::push_input(of, tensor, command == "push-one", seconds);
  }

  DEVICE_STATUS_CODE pushNumbers() {
    const std::string name = next();
    const auto of = queue(name);
    auto tensor = utils::get_tensor_descriptor(name, model, of);
    std::vector<float> values(elements(tensor));
    tensor.ptr = values.data();
    const int first = std::stoi(next()), end = first + std::stoi(next());
    std::ofstream log(next());
    for (int number = first; number < end; ++number) {
      std::fill(values.begin(), values.end(), float(number));
      log << "begin " << number << std::endl;
      if (const auto code = tt::backend::push_input(of, tensor, false, seconds); code != DEVICE_STATUS_CODE::Success)
        return code;
      log << "done " << number << std::endl;
    }
    return DEVICE_STATUS_CODE::Success;
  }

  DEVICE_STATUS_CODE getNumbers() {
    const auto of = queue(next());
    std::ofstream log(next());
    for (const std::string end = next();;) {
      tt::tt_PytorchTensorDesc tensor;
      const bool isLast = std::filesystem::exists(end);
      const auto code = tt::backend::get_output(of, tensor, false, isLast ? 1 : 0);
      if (code == DEVICE_STATUS_CODE::TimeoutError && !isLast) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      if (code != DEVICE_STATUS_CODE::Success)
        return code == DEVICE_STATUS_CODE::TimeoutError ? DEVICE_STATUS_CODE::Success : code;
      const auto *const values = static_cast<const float *>(tensor.ptr);
      const float number = values[0];
      if (!std::all_of(values, values + elements(tensor), [&](float each) { return each == number; }))
        throw std::runtime_error("a tensor has parts of two");
      log << "got " << number << std::endl;
      if (const auto popped = tt::backend::pop_output(of, false, 0); popped != DEVICE_STATUS_CODE::Success)
        return popped;
      log << "popped " << number << std::endl;
      tt::backend::free_tensor(tensor);
    }
  }

  std::shared_ptr<tt::tt_device_image> model;
  std::shared_ptr<tt_backend> backend;
  std::map<std::string, tt::tt_dram_io_desc> queues;
  std::vector<std::string> given;
  size_t at = 0;
  int seconds = 1;
};

} // namespace

int main(int count, char **arguments) try {
  Program(arguments[1], arguments[2]).run({arguments + 3, arguments + count});
} catch (const std::exception &error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
