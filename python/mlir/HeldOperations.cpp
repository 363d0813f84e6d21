// SPDX-License-Identifier: Apache-2.0
#include "HeldOperations.h"
#include <unordered_map>

namespace mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN {
namespace {

using Objects = std::unordered_multimap<const void *, PyOperation *>;

/// Requires Python's lock. Never destroyed: objects may be freed after static ones.
Objects &objects() {
  static auto *all = new Objects;
  return *all;
}

/// Calls `visit` with each operation inside of `root`.
template <typename Visit> void walkInside(MlirOperation root, Visit visit) {
  struct Data {
    const void *root;
    Visit &visit;
  } data{root.ptr, visit};
  mlirOperationWalk(
      root,
      [](MlirOperation operation, void *given) {
        auto &data = *static_cast<Data *>(given);
        if (operation.ptr != data.root)
          data.visit(operation);
        return MlirWalkResultAdvance;
      },
      &data, MlirWalkPreOrder);
}

} // namespace

void operationHeld(MlirOperation operation, PyOperation &object) { objects().emplace(operation.ptr, &object); }

void operationReleased(MlirOperation operation, PyOperation &object) {
  auto [first, last] = objects().equal_range(operation.ptr);
  for (auto it = first; it != last; ++it)
    if (it->second == &object) {
      objects().erase(it);
      return;
    }
}

void invalidate(MlirOperation operation) {
  auto invalid = [](MlirOperation each) {
    auto [first, last] = objects().equal_range(each.ptr);
    for (auto it = first; it != last; ++it)
      it->second->setInvalid();
  };
  invalid(operation);
  if (mlirOperationGetNumRegions(operation) != 0)
    walkInside(operation, invalid);
}

ErasingInside::ErasingInside(MlirOperation root) : root(root) {
  walkInside(root, [&](MlirOperation operation) {
    auto [first, last] = objects().equal_range(operation.ptr);
    for (auto it = first; it != last; ++it)
      inside.push_back({operation, mlirOperationGetName(operation), it->second});
  });
}

ErasingInside::~ErasingInside() {
  if (inside.empty())
    return;
  std::unordered_map<const void *, const void *> left;
  for (const Held &held : inside)
    left.emplace(held.operation.ptr, nullptr);
  walkInside(root, [&](MlirOperation operation) {
    if (auto it = left.find(operation.ptr); it != left.end())
      it->second = mlirOperationGetName(operation).ptr;
  });
  for (const Held &held : inside) {
    if (left[held.operation.ptr] == held.name.ptr)
      continue;
    auto [first, last] = objects().equal_range(held.operation.ptr);
    for (auto it = first; it != last; ++it)
      if (it->second == held.object) // else it went meanwhile
        held.object->setInvalid();
  }
}

} // namespace mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN
