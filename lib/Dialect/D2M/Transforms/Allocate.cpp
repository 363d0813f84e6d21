//===- Allocate.cpp - buffer allocation -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DramBuffers.h"

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
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
/// The lifetime of a buffer: from the op that creates it to the last one that uses it, as positions in the function.
struct Lifetime {
  memref::AllocOp alloc;
  Operation *lastUse;
  uint64_t bytes, address = 0;
};

/// A memory whose banks have every buffer at the same address: buffers are between `begin` and `end`, and their
/// addresses are multiples of the alignment.
struct Range {
  uint64_t begin, end, alignment;
  uint64_t banks = 1; // in which the parts of cores lie in turn
};

struct Allocate : d2m::impl::D2MAllocateBase<Allocate> {
  using Base::Base;

  /// The option, if one is set, that says where buffers are.
  StringRef placingOption() const {
    const std::pair<bool, StringRef> options[] = {
        {!availableL1AddrRange.empty(), availableL1AddrRange.getArgStr()},
        {testAssumel1Capacity != 0, testAssumel1Capacity.getArgStr()},
        {forceSpillToDramIfLegal, forceSpillToDramIfLegal.getArgStr()},
        {!allowL1OutputSpilling, allowL1OutputSpilling.getArgStr()},
        {defaultInputMemspace != ttcore::MemorySpace::DeviceL1, defaultInputMemspace.getArgStr()},
        {defaultOutputMemspace != ttcore::MemorySpace::DeviceL1, defaultOutputMemspace.getArgStr()},
        {streamInsertPolicy != StreamInsertPolicy::Infer, streamInsertPolicy.getArgStr()},
    };
    for (auto [isSet, name] : options)
      if (isSet)
        return name;
    return {};
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    if (ttnnMode) {
      if (StringRef name = placingOption(); !name.empty()) {
        root->emitError() << name << " has no effect with ttnn-mode: the executor finds places for tensors";
        signalPassFailure();
      }
      return;
    }
    ModuleOp module = isa<ModuleOp>(root) ? cast<ModuleOp>(root) : root->getParentOfType<ModuleOp>();
    auto system = module ? module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName) : nullptr;
    if (!system || system.getChipDescs().empty()) {
      root->emitError() << "module has no " << ttcore::systemDescName << "; run ttcore-register-device first";
      return signalPassFailure();
    }
    ttcore::ChipDescAttr chip = system.getChipDescs().front();
    for (auto [field, value] : {std::pair("noc_l1_address_align_bytes", chip.getNocL1AddressAlignBytes()),
                                std::pair("noc_dram_address_align_bytes", chip.getNocDRAMAddressAlignBytes()),
                                std::pair("num_dram_channels", chip.getNumDramChannels())})
      if (value == 0) {
        root->emitError() << ttcore::systemDescName << " has " << field << " = 0; expected 1 or more";
        return signalPassFailure();
      }
    FailureOr<Range> range = rangeOf(chip);
    if (failed(range))
      return signalPassFailure();
    const uint64_t alignment = chip.getNocDRAMAddressAlignBytes();
    const Range dram{llvm::alignTo(chip.getDramUnreservedBase(), alignment),
                     llvm::alignDown(chip.getDramUnreservedEnd(), alignment), alignment, chip.getNumDramChannels()};
    WalkResult result = root->walk([&](func::FuncOp function) {
      return function.getBody().hasOneBlock() && failed(allocate(function.getBody().front(), *range, dram))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  FailureOr<Range> rangeOf(ttcore::ChipDescAttr chip) {
    const uint64_t base = chip.getL1UnreservedBase(), size = chip.getL1Size();
    if (testAssumel1Capacity < 0 || static_cast<uint64_t>(testAssumel1Capacity) > size)
      return getOperation()->emitError() << "test-assume-l1-capacity=" << testAssumel1Capacity.getValue()
                                         << " is not between 0 and the " << size << " bytes of L1";
    Range range{base, testAssumel1Capacity ? static_cast<uint64_t>(testAssumel1Capacity) : size,
                chip.getNocL1AddressAlignBytes()};
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

  /// A buffer for which there was no room, and those that are live then.
  struct Full {
    Lifetime next;
    SmallVector<Lifetime> live;
  };

  LogicalResult allocate(Block &block, const Range &l1, const Range &dram) {
    const uint64_t blockBytes =
        std::clamp<uint64_t>((l1.end - std::min(l1.begin, l1.end)) / 8, leastBlockBytes, mostBlockBytes);
    if (testBufferSizePolicy == BufferSizePolicy::Min)
      for (auto generic : llvm::to_vector(block.getOps<GenericOp>()))
        splitBlocks(generic, /*blockBytes=*/1);
    if (streamInsertPolicy == StreamInsertPolicy::Always)
      for (auto generic : llvm::to_vector(block.getOps<GenericOp>()))
        streamAll(generic, blockBytes);
    for (auto alloc : llvm::to_vector(block.getOps<memref::AllocOp>()))
      if ((forceSpillToDramIfLegal || memoryOf(alloc) == ttcore::MemorySpace::DeviceDRAM) && canSpill(alloc))
        moveToDram(alloc, blockBytes);
    SmallVector<Lifetime> placed;
    for (std::optional<Full> full; (full = place(block, l1, isInL1, placed));)
      if (!makeRoom(*full, blockBytes))
        return report(*full, l1, "buffer of ", " bytes per core does not fit in L1");
    if (std::optional<Full> full = place(block, dram, isInDram, placed))
      return report(*full, dram, "buffer of ", " bytes per channel does not fit in DRAM");
    for (Lifetime &each : placed) {
      if (isInDram(each.alloc)) // from the end on: tensors of other programs lie at the begin
        each.address = dram.begin + dram.end - each.address - each.bytes;
      each.alloc->setAttr(addressName, Builder(&getContext()).getI64IntegerAttr(static_cast<int64_t>(each.address)));
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(each.lastUse);
      memref::DeallocOp::create(builder, each.alloc.getLoc(), each.alloc);
    }
    return success();
  }

  /// Bytes of the blocks of all operands of a generic that reads or writes DRAM.
  static constexpr uint64_t leastBlockBytes = 64, mostBlockBytes = 160 << 10;

  static bool isInL1(memref::AllocOp alloc) { return liesIn(alloc.getType(), ttcore::MemorySpace::DeviceL1); }
  static bool isInDram(memref::AllocOp alloc) { return liesIn(alloc.getType(), ttcore::MemorySpace::DeviceDRAM); }
  bool canSpill(memref::AllocOp alloc) const {
    return ttmetal::isDeviceBuffer(alloc.getType()) && isInL1(alloc) && canLieInDram(alloc.getResult()) &&
           (allowL1OutputSpilling || forceSpillToDramIfLegal || !isWrittenBy<GenericOp>(alloc));
  }
  template <class Writer> static bool isWrittenBy(memref::AllocOp alloc) {
    return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
      if constexpr (std::is_same_v<Writer, GenericOp>) {
        auto generic = dyn_cast<GenericOp>(user);
        return generic && llvm::is_contained(generic.getOutputs(), alloc.getResult());
      } else {
        return isa<Writer>(user);
      }
    });
  }
  /// Returns the memory that the options name for a buffer.
  ttcore::MemorySpace memoryOf(memref::AllocOp alloc) const {
    if (isWrittenBy<ToDeviceOp>(alloc))
      return defaultInputMemspace;
    return isWrittenBy<GenericOp>(alloc) ? defaultOutputMemspace.getValue() : ttcore::MemorySpace::DeviceL1;
  }

  /// Moves the largest live buffers to DRAM until there is room, or makes the blocks of a generic smaller.
  bool makeRoom(Full &full, uint64_t blockBytes) const {
    full.live.push_back(full.next);
    llvm::sort(full.live, [](const Lifetime &a, const Lifetime &b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.address < b.address;
    });
    uint64_t freed = 0;
    for (const Lifetime &each : full.live) {
      if (freed >= full.next.bytes)
        break;
      if (!canSpill(each.alloc))
        continue;
      moveToDram(each.alloc, blockBytes);
      freed += each.bytes;
    }
    for (Operation *user : llvm::to_vector(full.next.alloc->getUsers()))
      if (auto generic = dyn_cast<GenericOp>(user); generic && !freed && splitBlocks(generic, blockBytes))
        return true;
    return freed != 0;
  }

  static LogicalResult report(const Full &full, const Range &range, StringRef what, StringRef problem) {
    uint64_t used = 0;
    for (const Lifetime &other : full.live)
      used += other.alloc == full.next.alloc ? 0 : other.bytes;
    memref::AllocOp alloc = full.next.alloc;
    return alloc->emitError() << "a " << what << full.next.bytes << problem << ": of "
                              << range.end - std::min(range.begin, range.end) << " bytes others take " << used
                              << " at this point";
  }

  /// Places the buffers of a memory, or returns the first one for which there is no room.
  static std::optional<Full> place(Block &block, const Range &range, llvm::function_ref<bool(memref::AllocOp)> isThere,
                                   SmallVectorImpl<Lifetime> &placed) {
    const size_t before = placed.size();
    // Live buffers, by address.
    SmallVector<Lifetime> live;
    for (Operation &op : block) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        auto buffer = ttmetal::DeviceBuffer::of(alloc.getType());
        if (!buffer || !isThere(alloc))
          continue;
        const auto parts = static_cast<uint64_t>(buffer->grid[0] * buffer->grid[1]);
        const uint64_t inBank = range.banks == 1 ? 1 : llvm::divideCeil(parts, range.banks);
        Lifetime next{alloc, lastUseOf(alloc, block), llvm::alignTo(buffer->shardBytes(), range.alignment) * inBank};
        if (!findRoom(next, live, range)) {
          placed.truncate(before);
          return Full{next, live};
        }
        auto place = llvm::find_if(live, [&](const Lifetime &other) { return other.address > next.address; });
        live.insert(place, next);
        placed.push_back(next);
      }
      llvm::erase_if(live, [&](const Lifetime &each) { return each.lastUse == &op; });
    }
    return std::nullopt;
  }

  /// The op of the block that is, or contains, the last use; the op itself if there is none.
  static Operation *lastUseOf(Operation *buffer, Block &block) {
    Operation *last = buffer;
    for (Operation *user : buffer->getUsers()) {
      // A reader of a view reads the buffer.
      Operation *at = isa<ViewLayoutOp>(user) ? lastUseOf(user, block) : block.findAncestorOpInBlock(*user);
      if (at && last->isBeforeInBlock(at))
        last = at;
    }
    return last;
  }

  static bool findRoom(Lifetime &next, ArrayRef<Lifetime> live, const Range &range) {
    uint64_t address = range.begin;
    for (const Lifetime &other : live) {
      if (address + next.bytes <= other.address)
        break;
      address = other.address + other.bytes;
    }
    next.address = address;
    return address + next.bytes <= range.end;
  }
};
} // namespace
