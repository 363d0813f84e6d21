//===- ZoneScopes.cpp - zones of kernels ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::tt::ttkernel {
#define GEN_PASS_DEF_TTKERNELINSERTDEVICEZONESCOPES
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttkernel

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttkernel;

static bool isInit(Operation *op) { return op->hasTrait<trait::ConfiguresUnit>(); }
static bool isBuffer(Value value) { return isa<CBType>(value.getType()); }

/// An op of the vector unit has registers alone, and an init.
static bool isOnRegisters(Operation *op) {
  return !isInit(op) && op->getNumOperands() && llvm::none_of(op->getOperands(), isBuffer) &&
         RegisteredOperationName::lookup((op->getName().getStringRef() + "_init").str(), op->getContext());
}
/// An op from circular buffers to a register, or to another circular buffer.
static bool readsBuffers(Operation *op, bool toBuffer) {
  return !isInit(op) && op->getNumOperands() >= 3 && isBuffer(op->getOperand(0)) &&
         isBuffer(op->getOperands().back()) == toBuffer;
}
/// The ops of a kernel without units, other than those that hand over pages. `computes`: the kernel has units.
static bool isTransfer(Operation *op, bool computes) { return !computes && llvm::none_of(op->getOperands(), isBuffer); }

namespace {
struct Trait {
  StringLiteral name;
  bool (*matches)(Operation *op, bool computes);
};
} // namespace

static constexpr Trait traits[] = {
    {"fpu", [](Operation *op, bool) { return readsBuffers(op, /*toBuffer=*/false); }},
    {"sfpu", [](Operation *op, bool) { return isOnRegisters(op); }},
    {"init", [](Operation *op, bool) { return isInit(op); }},
    {"unary", [](Operation *op, bool) { return isOnRegisters(op) && op->getNumOperands() == 1; }},
    {"binary", [](Operation *op, bool) { return isOnRegisters(op) && op->getNumOperands() == 3; }},
    {"ternary", [](Operation *op, bool) { return isOnRegisters(op) && op->getNumOperands() == 4; }},
    {"device-zone",
     [](Operation *op, bool computes) {
       return readsBuffers(op, false) || readsBuffers(op, true) || isOnRegisters(op) || isTransfer(op, computes);
     }},
    {"trid-noc", isTransfer},
    {"layout", [](Operation *op, bool) { return readsBuffers(op, /*toBuffer=*/true); }},
    {"all", [](Operation *, bool) { return true; }},
};

namespace {
struct InsertDeviceZoneScopes : ttkernel::impl::TTKernelInsertDeviceZoneScopesBase<InsertDeviceZoneScopes> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<const Trait *> chosen;
    SmallVector<std::string> given(traitNames.begin(), traitNames.end());
    if (given.empty())
      given.push_back("device-zone");
    for (StringRef name : given) {
      const Trait *found = llvm::find_if(traits, [&](const Trait &each) { return each.name == name; });
      if (found == std::end(traits)) {
        InFlightDiagnostic error = getOperation().emitError() << "'" << name << "' is no trait of kernels; expected ";
        llvm::interleaveComma(traits, error, [&](const Trait &each) { error << each.name; });
        return signalPassFailure();
      }
      chosen.push_back(found);
    }
    if (!getOperation()->hasAttr(threadName))
      return;
    const bool computes =
        getOperation()
            .walk([](Operation *op) { return isInit(op) ? WalkResult::interrupt() : WalkResult::advance(); })
            .wasInterrupted();
    // The scope of a zone is a block, beyond whose end its values are not known.
    SmallVector<Operation *> zones;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<TTKernelDialect>(op->getDialect()) && op->getNumResults() == 0 &&
          llvm::any_of(chosen, [&](const Trait *each) { return each->matches(op, computes); }))
        zones.push_back(op);
    });
    for (Operation *op : zones) {
      OpBuilder builder(op);
      const std::string begin = "{ DeviceZoneScopedN(\"" + op->getName().stripDialect().str() + "\");";
      emitc::VerbatimOp::create(builder, op->getLoc(), begin);
      builder.setInsertionPointAfter(op);
      emitc::VerbatimOp::create(builder, op->getLoc(), "}");
    }
  }
};
} // namespace
