//===- GenericFusion.cpp - fusion of elementwise generics -----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A value between fused generics stays in a register. Generics are fused if the register holds the value exactly as the
// buffer would, so results have the same bits. A reduction computes its producer's tiles itself (ReductionFusion.h).
//
//===----------------------------------------------------------------------===//

#include "DstRegisters.h"
#include "Elementwise.h"
#include "ReductionFusion.h"

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MGENERICFUSION
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Circular buffers of a core.
static constexpr size_t portCount = 32;
/// Bytes of L1 per core by which moving work to a later position may lengthen the use of buffers.
static constexpr uint64_t heldBytes = 32 << 10;

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

namespace {
class Fusion {
public:
  /// `rounds`: values between may be rounded in registers.
  Fusion(Elementwise producer, Elementwise consumer, bool rounds = false)
      : producer(producer), consumer(consumer), rounds(rounds) {}

  /// Creates the fused generic before the consumer; the two stay. Returns null if they cannot be fused.
  GenericOp fuse() {
    Value between = producer.output();
    if (consumer.generic.getGrid() != producer.generic.getGrid() || between == consumer.output() ||
        cast<MemRefType>(between.getType()).getShape() != cast<MemRefType>(consumer.output().getType()).getShape())
      return {};
    std::optional<unsigned> input = consumer.inputOf(between);
    if (!input)
      return {};
    for (auto [number, each] : llvm::enumerate(consumer.generic.getInputs()))
      if (each == between && !consumer.readsInPlace(static_cast<unsigned>(number)))
        return {};

    SmallVector<Value> inputs, rings;
    const auto add = [&](GenericOp generic) {
      for (Value each : generic.getInputs())
        if (each != between && !llvm::is_contained(inputs, each))
          inputs.push_back(each);
      llvm::append_range(rings, generic.getAdditionalArgs());
    };
    add(producer.generic);
    add(consumer.generic);
    if (inputs.size() + rings.size() + 1 > portCount)
      return {};
    build(inputs, rings);
    if (!settle()) {
      fused.erase();
      return {};
    }
    return fused;
  }

private:
  void build(ArrayRef<Value> inputs, ArrayRef<Value> rings) {
    GenericOp last = consumer.generic;
    OpBuilder builder(last);
    SmallVector<Attribute> maps;
    for (Value input : inputs)
      maps.push_back(mapOf(input));
    maps.push_back(last.getIndexingMaps()[last.getInputs().size()]);
    fused =
        GenericOp::create(builder, builder.getFusedLoc({producer.generic.getLoc(), last.getLoc()}), TypeRange(), inputs,
                          consumer.output(), rings, last.getGrid(), last.getBlockFactors(), builder.getArrayAttr(maps),
                          last.getIteratorTypes(), last.getThreads(), last.getFabricConnectionConfigAttr(), 1);
    Block *block = builder.createBlock(&fused.getRegion(0));
    DenseMap<Value, Value> arguments; // of operands
    const auto argument = [&](Value operand, Value of) {
      Value &known = arguments[operand];
      if (!known)
        known = block->addArgument(of.getType(), operand.getLoc());
      return known;
    };
    IRMapping mapping;
    const auto argumentOf = [&](GenericOp generic, Value operand) {
      for (auto [number, each] : llvm::enumerate(generic->getOperands()))
        if (each == operand)
          return generic.getRegion(0).getArgument(static_cast<unsigned>(number));
      return BlockArgument();
    };
    for (Value operand : fused->getOperands()) {
      BlockArgument of = argumentOf(producer.generic, operand);
      argument(operand, of ? of : argumentOf(last, operand));
    }
    for (GenericOp generic : {producer.generic, last})
      for (auto [number, operand] : llvm::enumerate(generic->getOperands()))
        if (Value known = arguments.lookup(operand))
          mapping.map(generic.getRegion(0).getArgument(static_cast<unsigned>(number)), known);

    // Blocks are waited for once, and given back once.
    DenseMap<Value, Value> waited;
    for (Elementwise *part : {&producer, &consumer})
      for (Operation &op : part->body()) {
        if (&op == part->loops.front())
          break;
        if (auto wait = dyn_cast<WaitOp>(op)) {
          Value cb = mapping.lookupOrNull(wait.getCb());
          if (!cb)
            continue; // what is between them
          Value &block = waited[cb];
          if (!block)
            block = WaitOp::create(builder, wait.getLoc(), wait.getResult().getType(), cb);
          mapping.map(wait.getResult(), block);
        } else if (auto reserve = dyn_cast<ReserveOp>(op)) {
          if (part == &consumer)
            builder.clone(op, mapping);
        } else if (auto load = dyn_cast<RemoteLoadOp>(op)) {
          if (!waited.contains(mapping.lookup(load.getCb())))
            builder.clone(op, mapping);
        } else {
          builder.clone(op, mapping);
        }
      }
    cloneLoops(builder, mapping);
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> popped;
    for (Elementwise *part : {&consumer, &producer})
      for (Operation &op : llvm::make_range(std::next(part->loops.front()->getIterator()), part->body().end())) {
        Value cb = op.hasTrait<trait::ReleasesBlock>() ? mapping.lookupOrNull(op.getOperand(0)) : Value();
        if (cb && !llvm::is_contained(popped, cb)) {
          builder.clone(op, mapping);
          popped.push_back(cb);
        }
      }
  }

  void cloneLoops(OpBuilder &builder, IRMapping &mapping) {
    for (auto [inner, outer] : llvm::zip_equal(producer.loops, consumer.loops)) {
      // Bounds are constants before a loop.
      for (Value bound : {outer.getLowerBound(), outer.getUpperBound(), outer.getStep()})
        if (!mapping.contains(bound))
          mapping.map(bound, builder.clone(*bound.getDefiningOp(), mapping)->getResult(0));
      auto loop = scf::ForOp::create(builder, outer.getLoc(), mapping.lookup(outer.getLowerBound()),
                                     mapping.lookup(outer.getUpperBound()), mapping.lookup(outer.getStep()));
      mapping.map(inner.getInductionVar(), loop.getInductionVar());
      mapping.map(outer.getInductionVar(), loop.getInductionVar());
      builder.setInsertionPointToStart(loop.getBody());
    }
    for (Operation &op : producer.loops.back().getBody()->without_terminator())
      if (&op != producer.store)
        builder.clone(op, mapping);
    Value tile = mapping.lookup(producer.tile());
    for (Operation &op : consumer.loops.back().getBody()->without_terminator()) {
      if (auto load = dyn_cast<memref::LoadOp>(op);
          load && !mapping.contains(load.getMemRef()) && isBetween(load.getMemRef()))
        mapping.map(load.getResult(), tile);
      else
        builder.clone(op, mapping);
    }
  }

  bool isBetween(Value block) {
    auto wait = block.getDefiningOp<WaitOp>();
    auto argument = wait ? dyn_cast<BlockArgument>(wait.getCb()) : BlockArgument();
    return argument && consumer.generic->getOperand(argument.getArgNumber()) == producer.output();
  }

  Attribute mapOf(Value input) {
    for (Elementwise *part : {&producer, &consumer})
      if (std::optional<unsigned> number = part->inputOf(input))
        return part->generic.getIndexingMaps()[*number];
    llvm_unreachable("an input of neither");
  }

  /// Orders the fused ops. Returns whether registers hold their tiles exactly, and suffice.
  bool settle() {
    std::optional<Elementwise> result = Elementwise::of(fused);
    if (!result)
      return false;
    Block &body = *result->loops.back().getBody();
    scheduleTiles(result->store);
    // A value that no later op needs is gone.
    bool wide = producer.generic->hasAttr(f32RegistersName) || consumer.generic->hasAttr(f32RegistersName);
    for (Value operand : fused->getOperands())
      wide |= isWide(operand.getType());
    for (Operation &op : body)
      if (isTileOp(op) && &op != result->tile().getDefiningOp())
        wide |= cast<ttcore::TileType>(op.getResult(0).getType()).getDataType() == ttcore::DataType::Float32;
    if (wide)
      fused->setAttr(f32RegistersName, UnitAttr::get(fused.getContext()));
    if (wide && rounds)
      roundTiles(result->store);
    RegisterAssignment registers;
    for (Operation &op : body)
      if (isTileOp(op)) {
        if (failed(registers.assign(&op)))
          return false;
        if (&op != result->tile().getDefiningOp() && !isExact(&op, wide))
          return false;
      }
    return true;
  }

  Elementwise producer, consumer;
  const bool rounds;
  GenericOp fused;
};
} // namespace

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether an op uses a buffer only by writing to it.
static bool onlyWrites(Operation *op, Value buffer) {
  if (auto generic = dyn_cast<GenericOp>(op)) {
    if (generic.getOutputs().size() != 1 || generic.getOutputs().front() != buffer)
      return false;
    return llvm::count(generic->getOperands(), buffer) == 1;
  }
  if (auto write = dyn_cast<ToDeviceOp>(op))
    return write.getOutput() == buffer && write.getInput() != buffer;
  return false;
}

/// Erases the producers of buffers that nothing reads.
static void eraseUnread(func::FuncOp function) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> sources;
    for (Operation &op : function.getBody().front())
      if (isa<memref::AllocOp, ViewLayoutOp, memref::GetGlobalOp>(op))
        sources.push_back(&op);
    for (Operation *source : llvm::reverse(sources)) {
      Value buffer = source->getResult(0);
      if (!llvm::all_of(buffer.getUsers(), [&](Operation *user) {
            return isa<memref::AllocOp>(source) && user->getParentOp() == function && onlyWrites(user, buffer);
          }))
        continue;
      for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
        user->erase();
      source->erase();
      changed = true;
    }
  }
}

namespace {
struct GenericFusion : d2m::impl::D2MGenericFusionBase<GenericFusion> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock())
      return;
    eraseUnread(function);
    if (enableElementwiseFusion)
      for (GenericOp generic : llvm::to_vector(function.getOps<GenericOp>()))
        while (GenericOp fused = fuseInto(generic))
          generic = fused;
    if (enableEltwiseReductionFusion)
      for (GenericOp generic : llvm::to_vector(function.getOps<GenericOp>()))
        while (isReduction(generic)) {
          GenericOp fused = fuseIntoReduction(generic, enableElementwiseFusion);
          if (!fused)
            break;
          generic = fused;
        }
    eraseUnread(function);
  }

private:
  /// Fuses one producer into a generic, which is replaced; null if there is none.
  static GenericOp fuseInto(GenericOp generic, bool rounds = false) {
    std::optional<Elementwise> consumer = Elementwise::of(generic);
    if (!consumer)
      return {};
    for (Value input : generic.getInputs()) {
      std::optional<Elementwise> producer = producerOf(input, generic);
      if (!producer)
        continue;
      // A generic without inputs is cloned for each user.
      const bool isAlone =
          llvm::all_of(input.getUsers(), [&](Operation *user) { return user == producer->generic || user == generic; });
      if (!isAlone && !producer->generic.getInputs().empty())
        continue;
      if (!canMove(*producer, generic))
        continue;
      if (GenericOp fused = Fusion(*producer, *consumer, rounds).fuse()) {
        generic.erase();
        if (isAlone) {
          producer->generic.erase();
          input.getDefiningOp()->erase();
        }
        return fused;
      }
    }
    return {};
  }

  /// Fuses the producer of an input into a reduction, which is replaced; null if there is none. Only the reduction
  /// reads the producer's result. `inRegisters`: the producer may take in its own producers first.
  static GenericOp fuseIntoReduction(GenericOp generic, bool inRegisters) {
    for (auto [number, input] : llvm::enumerate(generic.getInputs())) {
      Value buffer = input;
      SmallVector<ViewLayoutOp> views;
      bool isAlone = true;
      while (auto view = buffer.getDefiningOp<ViewLayoutOp>()) {
        isAlone &= llvm::all_of(buffer.getUsers(), [&](Operation *user) {
          return user == generic || generic->isAncestor(user) || (!views.empty() && user == views.back());
        });
        views.push_back(view);
        buffer = view.getInput();
      }
      if (views.empty() || !isAlone)
        continue;
      std::optional<Elementwise> producer = producerOf(buffer, generic, views.back());
      if (!producer || !llvm::all_of(buffer.getUsers(), [&](Operation *user) {
            return user == producer->generic || user == views.back();
          }))
        continue;
      // What its own producers make can be rounded in the reduction's registers, which have 32 bits.
      while (inRegisters) {
        GenericOp fused = fuseInto(producer->generic, /*rounds=*/true);
        if (!fused)
          break;
        producer = Elementwise::of(fused);
      }
      if (!canMove(*producer, generic, /*pastConstants=*/true))
        continue;
      if (GenericOp fused = d2m::fuseIntoReduction(*producer, generic, static_cast<unsigned>(number))) {
        generic.erase();
        for (ViewLayoutOp view : views)
          view.erase();
        producer->generic.erase();
        buffer.getDefiningOp()->erase();
        return fused;
      }
    }
    return {};
  }

  /// The one generic that writes a buffer, before it is read. `view`: one that reads it, too.
  static std::optional<Elementwise> producerOf(Value buffer, GenericOp consumer, ViewLayoutOp view = nullptr) {
    if (!buffer.getDefiningOp<memref::AllocOp>())
      return std::nullopt;
    GenericOp producer;
    for (Operation *user : buffer.getUsers()) {
      if (user == view)
        continue;
      auto generic = dyn_cast<GenericOp>(user);
      if (!generic || generic->getBlock() != consumer->getBlock())
        return std::nullopt;
      if (llvm::is_contained(generic.getInputs(), buffer))
        continue;
      if (producer || !onlyWrites(generic, buffer))
        return std::nullopt;
      producer = generic;
    }
    if (!producer || !producer->isBeforeInBlock(consumer))
      return std::nullopt;
    return Elementwise::of(producer);
  }

  /// Whether a producer can be computed at its consumer's position: nothing writes its inputs in between, and the
  /// memory that they occupy until then is little more than that of its result. `pastConstants`: generics without
  /// inputs in between take no memory that counts, as the scaler of a reduction.
  static bool canMove(Elementwise producer, GenericOp consumer, bool pastConstants = false) {
    uint64_t held = 0;
    bool isNext = true;
    for (Operation *op = producer.generic->getNextNode(); op != consumer; op = op->getNextNode()) {
      auto between = dyn_cast<GenericOp>(op);
      isNext &= isa<memref::AllocOp, ViewLayoutOp>(op) || (pastConstants && between && between.getInputs().empty());
      for (Value input : producer.generic.getInputs())
        if (writes(op, sourceOf(input)))
          return false;
    }
    if (isNext)
      return true;
    for (Value input : producer.generic.getInputs())
      if (isLastRead(sourceOf(input), producer.generic))
        held += bytesOf(sourceOf(input));
    return held <= bytesOf(producer.output()) + heldBytes;
  }

  static Value sourceOf(Value buffer) {
    while (auto view = buffer.getDefiningOp<ViewLayoutOp>())
      buffer = view.getInput();
    return buffer;
  }
  static bool writes(Operation *op, Value buffer) {
    if (auto generic = dyn_cast<GenericOp>(op))
      return llvm::any_of(generic.getOutputs(), [&](Value output) { return sourceOf(output) == buffer; });
    auto write = dyn_cast<ToDeviceOp>(op);
    return write && write.getOutput() == buffer;
  }
  static bool isLastRead(Value buffer, Operation *reader) {
    return llvm::none_of(buffer.getUsers(), [&](Operation *user) {
      return isa<ViewLayoutOp>(user) || (user->getBlock() == reader->getBlock() && reader->isBeforeInBlock(user));
    });
  }
  static uint64_t bytesOf(Value buffer) {
    auto placed = ttmetal::DeviceBuffer::of(buffer.getType());
    return placed ? placed->shardBytes() : 0;
  }
};
} // namespace
