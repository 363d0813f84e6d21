//===- L1.cpp - the L1 of a core while a program runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "L1.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::PlacedTensor;

std::optional<int64_t> L1::allocate(int64_t bytes) {
  for (size_t i = pieces.size(); i-- > 0;) {
    auto &[begin, stop] = pieces[i];
    if (stop - begin < bytes)
      continue;
    stop -= bytes;
    const int64_t address = stop;
    if (begin == stop)
      pieces.erase(pieces.begin() + i);
    taken += bytes;
    return address;
  }
  return std::nullopt;
}

void L1::deallocate(int64_t address, int64_t bytes) {
  taken -= bytes;
  auto *at = llvm::lower_bound(pieces, std::pair(address, address));
  at = pieces.insert(at, std::pair(address, address + bytes));
  if (auto *next = at + 1; next != pieces.end() && next->first == at->second) {
    at->second = next->second;
    pieces.erase(next);
  }
  if (at != pieces.begin() && (at - 1)->second == at->first) {
    (at - 1)->second = at->second;
    pieces.erase(at);
  }
}

/// Whether the runtime gives the result the buffer of the operand (Planner::planDeviceMemory).
static bool sharesBuffer(Operation *op, const ChipMemory &chip) {
  if (!keepsOrder(op))
    return false;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType()),
       to = cast<RankedTensorType>(op->getResult(0).getType());
  TTNNLayoutAttr a = TTNNLayoutAttr::of(from), b = TTNNLayoutAttr::of(to);
  std::optional<PlacedTensor> before = placedTensor(from), after = placedTensor(to);
  if (!before || !after || a.getDataType() != b.getDataType() || !haveSamePlacement(*before, *after) ||
      l1BytesOfBank(chip, *before) != l1BytesOfBank(chip, *after))
    return false;
  if (!ttcore::isBlockFormat(a.getDataType()))
    return true;
  // Rows of a block format that begin elsewhere are rounded again.
  auto width = [](RankedTensorType type) { return type.getRank() ? type.getShape().back() : 1; };
  return op->getName().stripDialect() == "reshape" &&
         (width(from) == width(to) || (width(from) % 16 == 0 && width(to) % 16 == 0));
}

L1Tensors::L1Tensors(Block &block, const ChipMemory &chip) {
  DenseMap<Value, unsigned> tensorOf;
  for (Operation &op : block) {
    const unsigned number = ops.size();
    ops.push_back(&op);
    madeBy.emplace_back();
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto found = tensorOf.find(operand); found != tensorOf.end()) {
          SmallVector<unsigned, 4> &uses = tensors[found->second].uses;
          if (uses.empty() || uses.back() != number)
            uses.push_back(number);
        }
    });
    for (Value result : op.getResults()) {
      std::optional<PlacedTensor> lies = placedTensor(result.getType());
      const int64_t bytes = lies ? l1BytesOfBank(chip, *lies) : 0;
      if (bytes == 0)
        continue;
      auto shared = op.getNumOperands() ? tensorOf.find(op.getOperand(0)) : tensorOf.end();
      if (shared != tensorOf.end() && sharesBuffer(&op, chip)) {
        tensors[shared->second].values.push_back(result);
        const unsigned which = shared->second;
        tensorOf[result] = which;
        continue;
      }
      tensorOf[result] = tensors.size();
      madeBy.back().push_back(tensors.size());
      tensors.push_back({{result}, bytes, number, {}});
    }
  }
  endsAt.resize(ops.size());
  for (auto [index, tensor] : llvm::enumerate(tensors))
    endsAt[tensor.lastUse()].push_back(index);
}
