//===- Allocate.cpp - L1 buffer allocation --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MALLOCATE
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

namespace {
/// A buffer from the op that makes it to the last one that uses it, by their places in the function.
struct Lifetime {
  memref::AllocOp alloc;
  Operation *lastUse;
  uint64_t bytes, address = 0;
};

struct Allocate : d2m::impl::D2MAllocateBase<Allocate> {
  using Base::Base;

  void runOnOperation() override {
    Operation *root = getOperation();
    ModuleOp module = isa<ModuleOp>(root) ? cast<ModuleOp>(root) : root->getParentOfType<ModuleOp>();
    auto system = module ? module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName) : nullptr;
    if (!system || system.getChipDescs().empty()) {
      root->emitError() << "module has no " << ttcore::systemDescName << "; run ttcore-register-device first";
      return signalPassFailure();
    }
    if (alignmentOf(system.getChipDescs().front()) == 0) {
      root->emitError() << ttcore::systemDescName << " has noc_l1_address_align_bytes = 0; expected 1 or more";
      return signalPassFailure();
    }
    FailureOr<Range> range = rangeOf(system.getChipDescs().front());
    if (failed(range))
      return signalPassFailure();
    WalkResult result = root->walk([&](func::FuncOp function) {
      return function.getBody().hasOneBlock() && failed(allocate(function.getBody().front(), *range))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The part of L1 that buffers lie in, from `begin` up to `end`, and what their addresses are multiples of.
  struct Range {
    uint64_t begin, end, alignment;
  };

  FailureOr<Range> rangeOf(ttcore::ChipDescAttr chip) {
    const uint64_t base = chip.getL1UnreservedBase(), size = chip.getL1Size();
    if (testAssumel1Capacity < 0 || static_cast<uint64_t>(testAssumel1Capacity) > size)
      return getOperation()->emitError() << "test-assume-l1-capacity=" << testAssumel1Capacity.getValue()
                                         << " is not between 0 and the " << size << " bytes of L1";
    Range range{base, testAssumel1Capacity ? static_cast<uint64_t>(testAssumel1Capacity) : size, alignmentOf(chip)};
    if (!availableL1AddrRange.empty()) {
      const auto isAddress = [&](int64_t address) {
        return address >= 0 && static_cast<uint64_t>(address) >= base && static_cast<uint64_t>(address) <= size;
      };
      if (availableL1AddrRange.size() != 2 || !llvm::all_of(availableL1AddrRange, isAddress) ||
          availableL1AddrRange[0] > availableL1AddrRange[1])
        return getOperation()->emitError()
               << "available-l1-addr-range="
               << llvm::formatv("{0:$[,]}", llvm::make_range(availableL1AddrRange.begin(), availableL1AddrRange.end()))
                      .str()
               << " is no range of L1; expected two addresses from " << base << " to " << size;
      range.begin = static_cast<uint64_t>(availableL1AddrRange[0]);
      range.end = std::min(range.end, static_cast<uint64_t>(availableL1AddrRange[1]));
    }
    range.begin = llvm::alignTo(range.begin, range.alignment);
    return range;
  }

  static LogicalResult allocate(Block &block, const Range &range) {
    // Those that live, by address.
    SmallVector<Lifetime> live;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        auto buffer = ttmetal::DeviceBuffer::of(alloc.getType());
        if (!buffer)
          continue;
        Lifetime next{alloc, lastUseOf(alloc, block), llvm::alignTo(buffer->shardBytes(), range.alignment)};
        if (failed(findRoom(next, live, range)))
          return failure();
        alloc->setAttr(addressName, Builder(alloc.getContext()).getI64IntegerAttr(next.address));
        auto place = llvm::find_if(live, [&](const Lifetime &other) { return other.address > next.address; });
        live.insert(place, next);
      }
      llvm::erase_if(live, [&](Lifetime &each) {
        if (each.lastUse != &op)
          return false;
        OpBuilder builder(&op);
        builder.setInsertionPointAfter(&op);
        memref::DeallocOp::create(builder, each.alloc.getLoc(), each.alloc);
        return true;
      });
    }
    return success();
  }

  static uint64_t alignmentOf(ttcore::ChipDescAttr chip) { return chip.getNocL1AddressAlignBytes(); }

  /// The op of the block that is, or holds, the last use; the op itself when there is none.
  static Operation *lastUseOf(Operation *buffer, Block &block) {
    Operation *last = buffer;
    for (Operation *user : buffer->getUsers()) {
      // What reads a view reads the buffer.
      Operation *at = isa<ViewLayoutOp>(user) ? lastUseOf(user, block) : block.findAncestorOpInBlock(*user);
      if (at && last->isBeforeInBlock(at))
        last = at;
    }
    return last;
  }

  static LogicalResult findRoom(Lifetime &next, ArrayRef<Lifetime> live, const Range &range) {
    uint64_t address = range.begin, used = 0;
    for (const Lifetime &other : live) {
      if (address + next.bytes <= other.address)
        break;
      address = other.address + other.bytes;
    }
    for (const Lifetime &other : live)
      used += other.bytes;
    if (address + next.bytes > range.end)
      return next.alloc->emitError() << "a buffer of " << next.bytes << " bytes per core does not fit in L1: of "
                                     << range.end - std::min(range.begin, range.end) << " bytes others take " << used
                                     << " at this point";
    next.address = address;
    return success();
  }
};
} // namespace
