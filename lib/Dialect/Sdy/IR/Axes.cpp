//===- Axes.cpp - the algebra of axes and their parts ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Sdy/IR/Axes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sdy;

bool mlir::sdy::contains(Axis a, Axis b) { return a.index == b.index && a.pre <= b.pre && a.next() >= b.next(); }

bool mlir::sdy::isPrefix(Axis a, Axis of) { return contains(of, a) && a.pre == of.pre; }

bool mlir::sdy::overlaps(Axis a, Axis b) { return a.index == b.index && a.pre < b.next() && b.pre < a.next(); }

bool mlir::sdy::canCoexist(Axis a, Axis b) {
  if (a.index != b.index)
    return true;
  auto [p1, p2] = std::minmax(a.pre, b.pre);
  auto [n1, n2] = std::minmax(a.next(), b.next());
  if (n1 > p2)
    return p2 % p1 == 0 && n1 % p2 == 0 && n2 % n1 == 0;
  return p2 % n1 == 0;
}

std::optional<Axis> mlir::sdy::overlap(Axis a, Axis b) {
  if (!overlaps(a, b) || !canCoexist(a, b))
    return std::nullopt;
  int64_t pre = std::max(a.pre, b.pre);
  return Axis{a.index, pre, std::min(a.next(), b.next()) / pre};
}

std::optional<Axis> mlir::sdy::prefixWithout(Axis a, Axis b) {
  if (!canCoexist(a, b))
    return std::nullopt;
  if (!overlaps(a, b))
    return a;
  if (a.pre >= b.pre)
    return std::nullopt;
  return Axis{a.index, a.pre, b.pre / a.pre};
}

std::optional<Axis> mlir::sdy::prefixWithout(Axis a, AxesRef others) {
  std::optional<Axis> rest = a;
  for (Axis other : others)
    if (!(rest = prefixWithout(*rest, other)))
      break;
  return rest;
}

std::optional<Axis> mlir::sdy::suffixWithout(Axis a, Axis b) {
  if (!canCoexist(a, b))
    return std::nullopt;
  if (!overlaps(a, b))
    return a;
  if (a.next() <= b.next())
    return std::nullopt;
  return Axis{a.index, b.next(), a.next() / b.next()};
}

std::optional<Axis> mlir::sdy::commonPrefix(Axis a, Axis b) {
  if (isPrefix(a, b))
    return a;
  return isPrefix(b, a) ? std::optional(b) : std::nullopt;
}

Axes mlir::sdy::commonPrefix(AxesRef a, AxesRef b) {
  Axes shared;
  for (auto [x, y] : llvm::zip(a, b)) {
    std::optional<Axis> prefix = commonPrefix(x, y);
    if (prefix)
      shared.push_back(*prefix);
    if (x != y)
      break;
  }
  return shared;
}

bool mlir::sdy::isPrefix(AxesRef a, AxesRef of) {
  if (a.empty())
    return true;
  return a.size() <= of.size() && a.drop_back() == of.take_front(a.size() - 1) && isPrefix(a.back(), of[a.size() - 1]);
}

bool mlir::sdy::isStrictPrefix(AxesRef a, AxesRef of) { return a != of && isPrefix(a, of); }

bool mlir::sdy::canMerge(Axis a, Axis b) { return a.index == b.index && a.next() == b.pre; }

void mlir::sdy::addOrMerge(Axes &axes, Axis axis) {
  if (!axes.empty() && canMerge(axes.back(), axis))
    axes.back().size *= axis.size;
  else
    axes.push_back(axis);
}

void mlir::sdy::addOrMerge(Axes &axes, AxesRef added) {
  for (Axis axis : added)
    addOrMerge(axes, axis);
}

void mlir::sdy::sortAndMerge(Axes &axes) {
  llvm::sort(axes);
  Axes merged;
  addOrMerge(merged, axes);
  axes = std::move(merged);
}

Axes mlir::sdy::difference(AxesRef a, AxesRef b) {
  Axes rest;
  for (Axis axis : a) {
    Axes cuts;
    for (Axis other : b)
      if (std::optional<Axis> cut = overlap(axis, other))
        cuts.push_back(*cut);
    llvm::sort(cuts);
    std::optional<Axis> left = axis;
    for (Axis cut : cuts) {
      if (cut.pre > left->pre)
        rest.push_back({axis.index, left->pre, cut.pre / left->pre});
      left = cut.next() < left->next() ? std::optional<Axis>({axis.index, cut.next(), left->next() / cut.next()})
                                       : std::nullopt;
      if (!left)
        break;
    }
    if (left)
      rest.push_back(*left);
  }
  return rest;
}

bool mlir::sdy::overlapsAny(Axis a, AxesRef others) {
  return llvm::any_of(others, [&](Axis other) { return overlaps(a, other); });
}

int64_t mlir::sdy::product(AxesRef axes) {
  int64_t size = 1;
  for (Axis axis : axes)
    size *= axis.size;
  return size;
}
