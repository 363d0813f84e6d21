//===- Allocate.cpp - L1 buffer allocation --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

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
    WalkResult result = root->walk([&](func::FuncOp function) {
      return function.getBody().hasOneBlock() &&
                     failed(allocate(function.getBody().front(), system.getChipDescs().front()))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult allocate(Block &block, ttcore::ChipDescAttr chip) {
    // Those that live, by address.
    SmallVector<Lifetime> live;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        auto buffer = ttmetal::DeviceBuffer::of(alloc.getType());
        if (!buffer)
          continue;
        Lifetime next{alloc, lastUseOf(alloc, block), llvm::alignTo(buffer->shardBytes(), alignmentOf(chip))};
        if (failed(findRoom(next, live, chip)))
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

  static LogicalResult findRoom(Lifetime &next, ArrayRef<Lifetime> live, ttcore::ChipDescAttr chip) {
    uint64_t address = llvm::alignTo(chip.getL1UnreservedBase(), alignmentOf(chip)), used = 0;
    for (const Lifetime &other : live) {
      if (address + next.bytes <= other.address)
        break;
      address = other.address + other.bytes;
    }
    for (const Lifetime &other : live)
      used += other.bytes;
    if (address + next.bytes > chip.getL1Size())
      return next.alloc->emitError() << "a buffer of " << next.bytes << " bytes per core does not fit in L1: of "
                                     << chip.getL1Size() - chip.getL1UnreservedBase() << " bytes others take " << used
                                     << " at this point";
    next.address = address;
    return success();
  }
};
} // namespace
