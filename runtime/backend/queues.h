//===- queues.h - queues of tensors that processes share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A file in shared memory, created by the process that runs programs. Each queue is a ring of entries. Tensors are
// copied before they count, and stop counting after they were copied, so a process that is killed in between leaves the
// queue unchanged; its locks are taken over.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "image.h"

#include <memory>
#include <span>
#include <string>

namespace tt::backend {

/// Reports a timeout. The call has changed nothing.
class TimeoutError : public Error {
  using Error::Error;
};

/// Is notified when a thread has to wait, and when it continues.
class Watch {
public:
  virtual ~Watch() = default;
  virtual void waits(const std::string &forWhat) = 0;
  virtual void goesOn() = 0;
};

class Queues {
public:
  struct Header;
  struct Row;

  /// The file for programs with an output path, which is absolute.
  static std::string pathFor(const std::string &outputPath);
  /// Creates the file. Throws Error if a running process has it, or if there is no space.
  static std::shared_ptr<Queues> create(const std::string &path, std::span<const Port> inputs,
                                        std::span<const Port> outputs);
  /// Returns the queues of a file that this or another process has created. Throws Error if there are none.
  static std::shared_ptr<Queues> at(const std::string &path);
  ~Queues();
  Queues(const Queues &) = delete;
  Queues &operator=(const Queues &) = delete;

  /// A queue: of inputs, or of outputs. Throws Error for another name.
  Row &row(const std::string &name, bool input) const;

  static constexpr int64_t forever = -1;
  /// Copies entries to the end, once there is space. seconds: the maximum wait, not counting time in which a program
  /// runs; below 0: until the backend is finished. Throws TimeoutError. `watch` is the thread that runs programs.
  void push(Row &row, const std::byte *values, uint64_t entries, int64_t seconds, Watch *watch = nullptr);
  /// Waits until there are so many entries.
  void wait(Row &row, uint64_t entries, int64_t seconds, Watch *watch = nullptr);
  /// Copies the oldest entries, once there are that many; they stay.
  void peek(Row &row, std::byte *values, uint64_t entries, int64_t seconds);
  /// Removes the oldest entries, once there are that many.
  void pop(Row &row, uint64_t entries, int64_t seconds);

  /// Sets whether the process that runs programs is running.
  void setRunning(bool running);
  void fail(const std::string &why);
  /// Ends whoever waits, and removes the file.
  void close();

  static Port port(const Row &row);
  /// Microbatches that the queue of a port holds.
  static uint64_t slotsOf(const Port &port);
  const std::string &file() const { return path; }

private:
  Queues() = default;
  static std::shared_ptr<Queues> open(const std::string &path);
  void map(size_t size);
  bool isOwner() const;
  /// Takes the row's lock once `ready` holds for the row.
  template <class Ready> auto locked(Row &row, int64_t seconds, Watch *watch, const char *forWhat, Ready ready);
  std::span<Row> rows() const;

  std::string path;
  int descriptor = -1;
  std::byte *memory = nullptr;
  size_t bytes = 0;
  Header *header = nullptr;
};

} // namespace tt::backend
