//===- Caches.cpp - caches that ops write in place, as values -------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Writing to a cache creates a new value for later users. If the cache is an argument, the last value is written to the
// host's tensor when the program ends.
//
//===----------------------------------------------------------------------===//

#include "Caches.h"
#include "TileExpressions.h"

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FillCacheOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PagedFillCacheOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PagedUpdateCacheOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UpdateCacheOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;

/// The indices along a dimension, with the rank of a cache.
static Tensor positionsOf(Tensor cache, int64_t dim) {
  SmallVector<int64_t> shape(4, 1);
  shape[dim] = cache.shape()[dim];
  SmallVector<double> values;
  for (int64_t i = 0; i < shape[dim]; ++i)
    values.push_back(static_cast<double>(i));
  return cache.e->constant(RankedTensorType::get(shape, cache.e->builder.getF32Type()), values);
}

/// Users from `begin` on replaced by others.
static Tensor replaced(Tensor cache, int64_t begin, Tensor users) {
  const int64_t end = begin + users.shape()[0], count = cache.shape()[0];
  SmallVector<Tensor> parts;
  if (begin)
    parts.push_back(cache.slice(0, 0, begin, 1));
  parts.push_back(users);
  if (end < count)
    parts.push_back(cache.slice(0, end, count, 1));
  return cache.e->concat(parts, 0);
}

static Tensor valueOf(ttir::FillCacheOp op, Expressions &e) {
  Tensor cache = e(op.getCache()), input = e(op.getInput()).as(cache.type().getElementType());
  const auto begin = static_cast<int64_t>(op.getBatchOffset());
  const int64_t end = begin + input.shape()[0], filled = input.shape()[2], all = cache.shape()[2];
  if (filled < all)
    input = e.concat({input, cache.slice(0, begin, end, 1).slice(2, filled, all, 1)}, 2);
  return replaced(cache, begin, input);
}

static Tensor valueOf(ttir::UpdateCacheOp op, Expressions &e) {
  Tensor cache = e(op.getCache()), input = e(op.getInput()).as(cache.type().getElementType());
  const auto begin = static_cast<int64_t>(op.getBatchOffset());
  Tensor rows = input.permute({2, 1, 0, 3});
  Tensor position = e(op.getUpdateIndex());
  position = position.reshape({position.type().getNumElements()}).slice(0, 0, 1, 1);
  position = e.checked(position, cache.shape()[2], op).as(e.builder.getF32Type()).reshape({1, 1, 1, 1});
  Tensor mask = positionsOf(cache, 2).equal(position);
  return replaced(cache, begin, mask.select(rows, cache.slice(0, begin, begin + rows.shape()[0], 1)));
}

/// A position below 0 writes nothing.
static Tensor valueOf(ttir::PagedUpdateCacheOp op, Expressions &e) {
  Tensor cache = e(op.getCache()), input = e(op.getInput()).as(cache.type().getElementType());
  Type f32 = e.builder.getF32Type();
  const int64_t users = input.shape()[1], heads = cache.shape()[1], size = cache.shape()[3],
                pageRows = cache.shape()[2];
  Tensor rows = input.reshape({users, input.shape()[2], 1, size});
  if (rows.shape()[1] != heads)
    rows = rows.slice(1, 0, heads, 1);
  Tensor index = e(op.getUpdateIndex()).as(f32).reshape({users, 1, 1, 1});
  if (!op.getPageTable() && !op.getShareCache()) {
    Tensor mask = positionsOf(cache, 2).equal(index);
    return replaced(cache, 0, mask.select(rows, cache.slice(0, 0, users, 1)));
  }
  Tensor page = e.full(0, index), row = index;
  if (op.getPageTable()) {
    Tensor table = e(op.getPageTable()).as(f32);
    const int64_t count = table.shape()[1];
    Tensor number = ((index + 0.5) * (1 / static_cast<double>(pageRows))).floor();
    row = index - number * static_cast<double>(pageRows);
    Tensor mask = positionsOf(table.reshape({1, 1, users, count}), 3).equal(number);
    Tensor tables = table.reshape({users, 1, 1, count});
    page = mask.select(tables, e.full(-1, tables)).max({3});
  }
  for (int64_t user = 0; user < users; ++user) {
    const auto of = [&](Tensor x) { return x.slice(0, user, user + 1, 1); };
    Tensor mask = positionsOf(cache, 0).equal(of(page)) * positionsOf(cache, 2).equal(of(row));
    cache = mask.select(of(rows), cache);
  }
  return cache;
}

static Tensor valueOf(ttir::PagedFillCacheOp op, Expressions &e) {
  Tensor cache = e(op.getCache()), input = e(op.getInput()).as(cache.type().getElementType());
  Tensor table = e(op.getPageTable());
  if (op.getBatchIdxTensor()) {
    Tensor users = e(op.getBatchIdxTensor());
    table = e.rowsAt(table, users.reshape({users.type().getNumElements()}), op);
  }
  table = table.as(e.builder.getF32Type());
  const int64_t pageRows = cache.shape()[2];
  for (int64_t user = 0; user < input.shape()[0]; ++user)
    for (int64_t begin = 0; begin < input.shape()[2]; begin += pageRows) {
      const int64_t end = std::min(begin + pageRows, input.shape()[2]);
      Tensor rows = input.slice(0, user, user + 1, 1).slice(2, begin, end, 1);
      rows = rows.pad({0, 0, 0, 0}, {0, 0, pageRows - (end - begin), 0}, 0);
      Tensor page = table.slice(0, user, user + 1, 1).slice(1, begin / pageRows, begin / pageRows + 1, 1);
      Tensor mask = positionsOf(cache, 0).equal(page.reshape({1, 1, 1, 1})) *
                    positionsOf(cache, 2).less(static_cast<double>(end - begin));
      cache = mask.select(rows, cache);
    }
  return cache;
}

void tt::makeCachesValues(func::FuncOp function, const TileTypes &types) {
  Block &body = function.getBody().front();
  llvm::MapVector<Value, BlockArgument> written; // the last value of an argument
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!op.hasTrait<trait::WritesCache>())
      continue;
    OpBuilder builder(&op);
    TileExpressions e(builder, op.getLoc(), types);
    std::optional<Tensor> next =
        llvm::TypeSwitch<Operation *, std::optional<Tensor>>(&op)
            .Case<ttir::FillCacheOp, ttir::UpdateCacheOp, ttir::PagedUpdateCacheOp, ttir::PagedFillCacheOp>(
                [&](auto cacheOp) { return valueOf(cacheOp, e); })
            .Default([](Operation *) { return std::nullopt; });
    if (!next)
      continue;
    Value cache = op.getOperand(0);
    cache.replaceUsesWithIf(next->value, [&](OpOperand &use) {
      Operation *user = body.findAncestorOpInBlock(*use.getOwner());
      return user != &op && op.isBeforeInBlock(user);
    });
    BlockArgument argument = dyn_cast<BlockArgument>(cache);
    if (auto known = written.find(cache); known != written.end()) {
      argument = known->second;
      written.erase(known);
    }
    if (argument)
      written[next->value] = argument;
    for (OpResult result : op.getResults())
      result.replaceAllUsesWith(next->value);
    op.erase();
  }
  if (written.empty())
    return;
  auto end = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<int64_t> numbers;
  for (auto [value, argument] : written) {
    end->insertOperands(end.getNumOperands(), value);
    numbers.push_back(argument.getArgNumber());
  }
  end->setDiscardableAttr(writtenArgumentsName, DenseI64ArrayAttr::get(function.getContext(), numbers));
}
