//===- Gspmd.cpp - shardings as strings of GSPMD --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Gspmd.h"

#include "ttmlir/Dialect/Sdy/IR/Axes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
class Reader {
public:
  explicit Reader(StringRef text) : text(text) {}

  bool take(StringRef word) { return text.consume_front(word); }
  bool list(SmallVectorImpl<int64_t> &numbers) { return take("[") && this->numbers(numbers) && take("]"); }
  bool numbers(SmallVectorImpl<int64_t> &numbers) {
    do {
      int64_t number;
      if (text.consumeInteger(10, number) || number < 0)
        return false;
      numbers.push_back(number);
    } while (take(","));
    return true;
  }

private:
  StringRef text;
};
} // namespace

static int64_t product(ArrayRef<int64_t> numbers) {
  int64_t result = 1;
  for (int64_t number : numbers)
    if (llvm::MulOverflow(result, number, result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

FailureOr<GspmdSharding> shlo::parseGspmd(Operation *op, StringRef text) {
  auto refuse = [&](const Twine &expected) {
    return op->emitOpError() << gspmdName << " \"" << text << "\" is not read; expected " << expected;
  };
  GspmdSharding result;
  if (text == "{replicated}")
    return result;
  if (text == "{manual}") {
    result.manual = true;
    return result;
  }
  Reader reader(text);
  SmallVector<int64_t> reshape, ids;
  if (!reader.take("{devices=") || !reader.list(result.tile))
    return refuse("{replicated}, {manual} or {devices=[...]...}"), failure();
  if (reader.take("<=")) {
    SmallVector<int64_t> order;
    if (!reader.list(reshape))
      return refuse("a list of sizes after <="), failure();
    if (reader.take("T(") && (!reader.numbers(order) || !reader.take(")")))
      return refuse("an order of axes after T"), failure();
  } else if (!reader.numbers(ids)) {
    return refuse("<= and sizes, or numbers of devices"), failure();
  }
  const bool lastReplicates = reader.take(" last_tile_dim_replicate");
  if (!reader.take("}") || product(result.tile) < 1 || product(result.tile) > sdy::maxMeshDevices)
    return refuse("nothing but last_tile_dim_replicate behind the devices"), failure();
  if (reshape.size() >= 2) {
    result.mesh = reshape;
  } else if (llvm::is_contained(result.tile, product(result.tile))) {
    result.mesh = {1, product(result.tile)};
  } else {
    llvm::copy_if(result.tile, std::back_inserter(result.mesh), [](int64_t size) { return size != 1; });
    if (ids.size() >= 2 && ids[1] != ids[0] + 1)
      std::reverse(result.mesh.begin(), result.mesh.end());
  }
  if (result.mesh.size() != 2 || product(result.mesh) != product(result.tile))
    return refuse("a mesh of two axes"), failure();
  if (lastReplicates)
    result.tile.pop_back();
  return result;
}

FailureOr<SmallVector<int64_t>> shlo::gspmdMesh(ModuleOp module) {
  SmallVector<std::pair<Operation *, StringAttr>> texts;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto text = function.getArgAttrOfType<StringAttr>(i, gspmdName))
        texts.emplace_back(function, text);
  module.walk([&](stablehlo::CustomCallOp call) {
    if (auto text = call->getAttrOfType<StringAttr>(gspmdName))
      texts.emplace_back(call, text);
  });
  for (auto [op, text] : texts) {
    FailureOr<GspmdSharding> sharding = parseGspmd(op, text.getValue());
    if (failed(sharding))
      return failure();
    if (!sharding->mesh.empty())
      return sharding->mesh;
  }
  return SmallVector<int64_t>{1, 1};
}
