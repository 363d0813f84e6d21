//===- queues.h - queues of tensors that processes share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A file in shared memory, created by the process that runs programs. Each queue
// is a ring of entries. Tensors are copied before they count, and stop counting
// after they were copied, so that a process that is killed in between leaves the
// queue as it was; locks that it held are taken over.
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

/// Is told when a thread cannot go on, and when it does.
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
  /// Makes the file. Throws Error when a process that runs has it, or there is no room.
  static std::shared_ptr<Queues> create(const std::string &path, std::span<const Port> inputs,
                                        std::span<const Port> outputs);
  /// Returns the queues of a file that this or another process has created. Throws Error when there are none.
  static std::shared_ptr<Queues> at(const std::string &path);
  ~Queues();
  Queues(const Queues &) = delete;
  Queues &operator=(const Queues &) = delete;

  /// A queue: of inputs, or of outputs. Throws Error for another name.
  Row &row(const std::string &name, bool input) const;

  static constexpr int64_t forever = -1;
  /// Copies entries to the end, when there is room. seconds: how long it waits, time in which a program runs does not
  /// count; less than 0: until the backend is finished. Throws TimeoutError. `watch` is the thread that runs programs.
  void push(Row &row, const std::byte *values, uint64_t entries, int64_t seconds, Watch *watch = nullptr);
  /// Waits until there are so many entries.
  void wait(Row &row, uint64_t entries, int64_t seconds, Watch *watch = nullptr);
  /// Copies the oldest entries, when there are so many; they stay.
  void peek(Row &row, std::byte *values, uint64_t entries, int64_t seconds);
  /// Removes the oldest entries, when there are so many.
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
  /// The row's lock, when `ready` says so of the row.
  template <class Ready> auto locked(Row &row, int64_t seconds, Watch *watch, const char *forWhat, Ready ready);
  std::span<Row> rows() const;

  std::string path;
  int descriptor = -1;
  std::byte *memory = nullptr;
  size_t bytes = 0;
  Header *header = nullptr;
};

} // namespace tt::backend
