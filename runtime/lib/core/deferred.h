//===- deferred.h - work of making kernels that is put off --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A plan has kernels whose creation takes long and does not influence the rest of the plan: the machine code of
// primitives. One after the other, they would keep one thread busy. Kernels that are created in a scope of DeferredWork
// leave this work to its end, where all threads share it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <map>
#include <memory>
#include <span>
#include <typeindex>
#include <vector>

namespace tt::ttnn {

class Work {
public:
  virtual ~Work() = default;
  /// Does the work unless it is already done. Any thread may call it.
  virtual void perform() const = 0;
};

class DeferredWork {
public:
  DeferredWork();
  ~DeferredWork();
  DeferredWork(const DeferredWork &) = delete;

  /// The innermost scope of this thread, or nullptr.
  static DeferredWork *current();
  /// Work of another object, which may be destroyed before it is done.
  void add(const std::shared_ptr<const Work> &work) { all.push_back(work); }
  std::span<const std::weak_ptr<const Work>> added() const { return all; }
  /// Does what was added, on all threads.
  void finish();
  /// Returns the object of a type that all kernels of this scope share.
  template <class T> std::shared_ptr<T> shared() {
    std::shared_ptr<void> &found = objects[typeid(T)];
    if (!found)
      found = std::make_shared<T>();
    return std::static_pointer_cast<T>(found);
  }

private:
  DeferredWork *const outer;
  std::vector<std::weak_ptr<const Work>> all;
  std::map<std::type_index, std::shared_ptr<void>> objects;
};

} // namespace tt::ttnn
