//===- Allocate.cpp - buffer allocation -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DramBuffers.h"
#include "TensorBuffers.h"

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTCore/Transforms/Shares.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"

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
  Operation *creator; // a memref.alloc or, in programs of TTNN, what copies a tensor to L1
  Operation *lastUse;
  uint64_t bytes, address = 0;

  memref::AllocOp alloc() const { return dyn_cast<memref::AllocOp>(creator); }
};

/// A memory whose banks have every buffer at the same address: buffers are between `begin` and `end`, and their
/// addresses are multiples of the alignment.
struct Range {
  uint64_t begin, end, alignment;
  uint64_t banks = 1; // in which the parts of cores lie in turn
};

struct Allocate : d2m::impl::D2MAllocateBase<Allocate> {
  using Base::Base;

  /// Refuses the options, if one is set, that programs of TTNN have no use for.
  LogicalResult checkTensors() {
    const std::tuple<bool, StringRef, StringRef> options[] = {
        {!availableL1AddrRange.empty(), availableL1AddrRange.getArgStr(), "the executor finds addresses for tensors"},
        {defaultInputMemspace != ttcore::MemorySpace::DeviceL1, defaultInputMemspace.getArgStr(),
         "arguments lie where their layouts say"},
    };
    for (auto [isSet, name, reason] : options)
      if (isSet)
        return getOperation()->emitError() << name << " has no effect with ttnn-mode: " << reason;
    return success();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    if (ttnnMode && failed(checkTensors()))
      return signalPassFailure();
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
    coreCount = static_cast<uint64_t>(ShapedType::getNumElements(chip.getGrid()));
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

  LogicalResult allocate(Block &block, Range l1, const Range &dram) {
    if (ttnnMode)
      l1.end -= std::min(l1.end - std::min(l1.begin, l1.end), takenBefore(block));
    const uint64_t blockBytes =
        std::clamp<uint64_t>((l1.end - std::min(l1.begin, l1.end)) / 8, leastBlockBytes, mostBlockBytes);
    if (testBufferSizePolicy == BufferSizePolicy::Min)
      for (auto generic : llvm::to_vector(block.getOps<GenericOp>()))
        splitBlocks(generic, /*blockBytes=*/1);
    if (streamInsertPolicy == StreamInsertPolicy::Always)
      for (auto generic : llvm::to_vector(block.getOps<GenericOp>()))
        streamAll(generic, blockBytes);
    if (ttnnMode)
      useTensorsInPlace(block, blockBytes);
    for (auto alloc : llvm::to_vector(block.getOps<memref::AllocOp>()))
      if ((forceSpillToDramIfLegal || memoryOf(alloc) == ttcore::MemorySpace::DeviceDRAM) && canSpill(alloc))
        spill(alloc, blockBytes);
    SmallVector<Lifetime> placed;
    for (std::optional<Full> full; (full = place(block, l1, ttcore::MemorySpace::DeviceL1, placed));)
      if (!makeRoom(*full, blockBytes))
        return report(*full, l1, "buffer of ", " bytes per core does not fit in L1");
    if (ttnnMode) // the executor finds addresses
      return success();
    if (std::optional<Full> full = place(block, dram, ttcore::MemorySpace::DeviceDRAM, placed))
      return report(*full, dram, "buffer of ", " bytes per channel does not fit in DRAM");
    for (Lifetime &each : placed) {
      if (isInDram(each.alloc())) // from the end on: tensors of other programs lie at the begin
        each.address = dram.begin + dram.end - each.address - each.bytes;
      each.creator->setAttr(addressName, Builder(&getContext()).getI64IntegerAttr(static_cast<int64_t>(each.address)));
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(each.lastUse);
      memref::DeallocOp::create(builder, each.creator->getLoc(), each.alloc());
    }
    return success();
  }

  /// Bytes of the blocks of all operands of a generic that reads or writes DRAM.
  static constexpr uint64_t leastBlockBytes = 64, mostBlockBytes = 160 << 10;

  static bool isInL1(memref::AllocOp alloc) { return liesIn(alloc.getType(), ttcore::MemorySpace::DeviceL1); }
  static bool isInDram(memref::AllocOp alloc) { return liesIn(alloc.getType(), ttcore::MemorySpace::DeviceDRAM); }
  bool canSpill(memref::AllocOp alloc) const {
    return ttmetal::isDeviceBuffer(alloc.getType()) && isInL1(alloc) && canLieInDram(alloc.getResult()) &&
           (llvm::none_of(alloc->getUsers(), llvm::IsaPred<ttir::TTNNMetalLayoutCastOp>) || castToPages(alloc)) &&
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

  /// Moves a buffer for which canSpill holds to DRAM.
  static void spill(memref::AllocOp alloc, uint64_t blockBytes) {
    if (ttir::TTNNMetalLayoutCastOp cast = castToPages(alloc))
      writeToPages(alloc, cast, blockBytes);
    else
      moveToDram(alloc, blockBytes);
  }

  /// Lets kernels read arguments in DRAM themselves, and write results that only leave.
  static void useTensorsInPlace(Block &block, uint64_t blockBytes) {
    for (auto cast : llvm::to_vector(block.getOps<ttir::TTNNMetalLayoutCastOp>()))
      readFromPages(cast, /*moves=*/false, blockBytes);
    for (auto alloc : llvm::to_vector(block.getOps<memref::AllocOp>()))
      if (ttir::TTNNMetalLayoutCastOp cast = castToPages(alloc); cast && llvm::hasNItems(alloc->getUsers(), 2))
        writeToPages(alloc, cast, blockBytes);
  }

  /// Bytes of L1 that tensors take which the function does not create.
  uint64_t takenBefore(Block &block) const {
    uint64_t bytes = 0;
    for (Type type : block.getArgumentTypes())
      bytes += l1BytesOf(type, coreCount);
    if (auto others = block.getParentOp()->getAttrOfType<IntegerAttr>(ttcore::l1TakenName))
      bytes = std::max(bytes, static_cast<uint64_t>(std::max<int64_t>(0, others.getInt())));
    return bytes;
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
      if (memref::AllocOp alloc = each.alloc(); alloc && canSpill(alloc))
        spill(alloc, blockBytes);
      else if (alloc || !leaveL1(each.creator, blockBytes))
        continue;
      freed += each.bytes;
    }
    if (freed)
      return true;
    for (Operation *user : llvm::to_vector(full.next.creator->getUsers()))
      if (auto generic = dyn_cast<GenericOp>(user); generic && splitBlocks(generic, blockBytes))
        return true;
    return false;
  }

  /// Brings a tensor to DRAM instead of L1. Returns whether it did.
  static bool leaveL1(Operation *copy, uint64_t blockBytes) {
    bool did = false;
    const size_t uses = std::distance(copy->use_begin(), copy->use_end());
    for (Operation *user : llvm::to_vector(copy->getUsers()))
      if (auto cast = dyn_cast<ttir::TTNNMetalLayoutCastOp>(user))
        did |= uses == 1 && readFromPages(cast, /*moves=*/true, blockBytes);
    return did;
  }

  static LogicalResult report(const Full &full, const Range &range, StringRef what, StringRef problem) {
    uint64_t used = 0;
    for (const Lifetime &other : full.live)
      used += other.creator == full.next.creator ? 0 : other.bytes;
    return full.next.creator->emitError()
           << "a " << what << full.next.bytes << problem << ": of " << range.end - std::min(range.begin, range.end)
           << " bytes others take " << used << " at this point";
  }

  /// Places the buffers of a memory, or returns the first one for which there is no room.
  std::optional<Full> place(Block &block, const Range &range, ttcore::MemorySpace memory,
                            SmallVectorImpl<Lifetime> &placed) const {
    const size_t before = placed.size();
    // Live buffers, by address.
    SmallVector<Lifetime> live;
    for (Operation &op : block) {
      if (const uint64_t bytes = bytesOf(&op, memory, range)) {
        Lifetime next{&op, lastUseOf(&op, block), bytes};
        if (!(ttnnMode ? findRoomAboveRings(next, live, range) : findRoom(next, live, range))) {
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

  /// The bytes of each bank of a memory that an op takes for its result; 0 if it takes none.
  uint64_t bytesOf(Operation *op, ttcore::MemorySpace memory, const Range &range) const {
    if (auto copy = dyn_cast<ttnn::ToLayoutOp>(op))
      return ttnnMode ? llvm::alignTo(l1BytesOf(copy.getType(), coreCount), range.alignment) : 0;
    auto alloc = dyn_cast<memref::AllocOp>(op);
    auto buffer = alloc ? ttmetal::DeviceBuffer::of(alloc.getType()) : std::nullopt;
    if (!buffer || !liesIn(alloc.getType(), memory))
      return 0;
    const auto parts = static_cast<uint64_t>(buffer->grid[0] * buffer->grid[1]);
    const uint64_t inBank = range.banks == 1 ? 1 : llvm::divideCeil(parts, range.banks);
    return llvm::alignTo(buffer->shardBytes(), range.alignment) * inBank;
  }

  /// The op of the block that is, or contains, the last use; the op itself if there is none.
  static Operation *lastUseOf(Operation *buffer, Block &block) {
    Operation *last = buffer;
    for (Operation *user : buffer->getUsers()) {
      // A reader of a view reads the buffer, as that of a tensor which it is does.
      Operation *at = isa<ViewLayoutOp, ttir::TTNNMetalLayoutCastOp>(user) ? lastUseOf(user, block)
                                                                           : block.findAncestorOpInBlock(*user);
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

  /// Whether one generic alone uses a buffer: it has a circular buffer in it.
  static bool isCircular(const Lifetime &each) {
    Operation *only = nullptr;
    for (Operation *user : each.creator->getUsers()) {
      Operation *at = isa<GenericOp>(user) ? user : user->getParentOfType<GenericOp>();
      if (!at || (only && at != only))
        return false;
      only = at;
    }
    return only && each.alloc();
  }

  /// As the executor does: circular buffers lie at the begin of L1, below all tensors, and these at the end, each in
  /// the first room from above.
  static bool findRoomAboveRings(Lifetime &next, ArrayRef<Lifetime> live, const Range &range) {
    uint64_t ringsEnd = range.begin, lowest = range.end;
    for (const Lifetime &other : live)
      if (isCircular(other))
        ringsEnd = std::max(ringsEnd, other.address + other.bytes);
      else
        lowest = std::min(lowest, other.address);
    if (isCircular(next)) {
      next.address = ringsEnd;
      return ringsEnd + next.bytes <= lowest;
    }
    uint64_t end = range.end;
    for (const Lifetime &other : llvm::reverse(live)) {
      if (isCircular(other) || other.address + other.bytes + next.bytes <= end)
        break;
      end = other.address;
    }
    next.address = end - std::min(end, next.bytes);
    return end >= ringsEnd && end - ringsEnd >= next.bytes;
  }

  uint64_t coreCount = 1;
};
} // namespace
