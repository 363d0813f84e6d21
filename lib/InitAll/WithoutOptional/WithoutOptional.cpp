//===- WithoutOptional.cpp - what a build without optional parts says -----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Lowering.h"
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/Vhlo/Transforms/PortableArtifact.h"
#include "ttmlir/InitOptional.h"
#include "ttmlir/Target/Cpp/TranslateToCpp.h"
#include "ttmlir/Target/Emit/TensorFiles.h"
#include "ttmlir/Target/Python/TranslateToPython.h"
#include "ttmlir/Target/TTMetal/TTMetalToFlatbuffer.h"
#include "ttmlir/Target/TTNN/NativeCode.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

/// Ends a diagnostic by what is missing.
static InFlightDiagnostic missing(InFlightDiagnostic error, StringRef part) {
  error << "needs " << part
        << ", which this build is without; `make build` makes one with it (CMake: TTMLIR_BUILD_OPTIONAL)";
  return error;
}

static InFlightDiagnostic missing(Operation *module, StringRef part) {
  return missing(emitError(module->getLoc()), part);
}

namespace {

/// Text in a missing dialect gets an error that states how to build it.
class AbsentDialect : public Dialect {
public:
  AbsentDialect(StringRef name, MLIRContext *context, TypeID id) : Dialect(name, context, id) {}

  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override { return refuseOp; }

  Type parseType(DialectAsmParser &parser) const override {
    missing(parser.emitError(parser.getNameLoc()), ("the dialect " + getNamespace()).str());
    return {};
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    missing(parser.emitError(parser.getNameLoc()), ("the dialect " + getNamespace()).str());
    return {};
  }

private:
  static ParseResult refuseOp(OpAsmParser &parser, OperationState &state) {
    return missing(parser.emitError(parser.getNameLoc()), ("the dialect " + state.name.getDialectNamespace()).str());
  }
};

template <size_t> class Absent {};

template <size_t... Is> void insert(DialectRegistry &registry, ArrayRef<StringRef> names, std::index_sequence<Is...>) {
  auto insertOne = [&](TypeID id, StringRef name) {
    registry.insert(id, name, [=](MLIRContext *context) -> Dialect * {
      return context->getOrLoadDialect(
          name, id, [=]() -> std::unique_ptr<Dialect> { return std::make_unique<AbsentDialect>(name, context, id); });
    });
  };
  (insertOne(TypeID::get<Absent<Is>>(), names[Is]), ...);
}

constexpr StringRef dialects[] = {
    "stablehlo", "chlo", "vhlo", "sdy", "d2m", "ttkernel", "ttmetal", "emitpy",
    // Of the dialects through which functions of the host are lowered, those that no other dialect loads.
    "bufferization", "linalg", "llvm", "math"};
constexpr StringLiteral artifacts = "StableHLO", metal = "TTMetal", emitters = "what emits programs",
                        host = "functions of the host";

/// Replaces passes that move ops to the host: refuses `option` if it is given, and ops that only the host has.
class AbsentHost : public PassWrapper<AbsentHost, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AbsentHost)
  explicit AbsentHost(StringRef option = "") : option(option) {}

  void runOnOperation() override {
    if (!option.empty()) {
      missing(getOperation()->emitError() << "the option " << option << " ", host);
      return signalPassFailure();
    }
    if (getOperation().walk<WalkOrder::PreOrder>(check).wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static WalkResult check(Operation *op) {
    const bool isTagged = op->hasAttr(tt::ttir::ShouldHoistAttr::attrName) && !isa<func::FuncOp>(op);
    const bool isOfHost = llvm::is_contained(tt::hostDialects, op->getName().getDialectNamespace()) &&
                          !op->hasTrait<OpTrait::IsTerminator>();
    if (!isTagged && !isOfHost)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitError() << "'" << op->getName() << "' is ";
    if (isTagged)
      error << "marked " << tt::ttir::ShouldHoistAttr::attrName << ", and ";
    else
      error << "no op of the chip, and ";
    missing(std::move(error), host);
    return WalkResult::interrupt();
  }

  StringRef option;
};

} // namespace

void tt::registerOptionalDialects(DialectRegistry &registry) {
  insert(registry, dialects, std::make_index_sequence<std::size(dialects)>());
}

void tt::registerOptionalPasses() {}

void tt::registerOptionalTranslations(void (*)(DialectRegistry &)) {}

std::unique_ptr<Pass> tt::createCPUHoistFallback(CPUHoistFallbackOptions options) {
  return std::make_unique<AbsentHost>(options.enabled ? "cpu-fallback" : "");
}

std::unique_ptr<Pass> tt::createCPUHoistManuallyTaggedOpsTransform() { return std::make_unique<AbsentHost>(); }

std::unique_ptr<Pass> tt::createCPUHoistConstEvalTransform() {
  return std::make_unique<AbsentHost>("enable-cpu-hoisted-const-eval");
}

void tt::addHostPasses(OpPassManager &) {}

FailureOr<std::optional<tt::ttnn::NativeCode>> tt::ttnn::compileHostFunctions(ModuleOp module) {
  for (auto wrapped : module.getOps<ttcore::CPUModuleOp>())
    if (!cast<ModuleOp>(wrapped->getRegion(0).front().front()).getBody()->empty())
      return missing(wrapped->emitError() << "'" << wrapped->getName() << "' ", host), failure();
  return std::optional<NativeCode>();
}

std::string tt::stableHLOLowering(StringRef, MLIRContext *) { return {}; }

LogicalResult tt::ttmetal::translateTTMetalToFlatbuffer(Operation *module, raw_ostream &) {
  return missing(module, metal);
}

LogicalResult tt::ttmetal::translateKernelsToCpp(Operation *module, raw_ostream &) { return missing(module, metal); }

LogicalResult tt::emit::translateToCpp(Operation *module, raw_ostream &) { return missing(module, emitters); }

LogicalResult tt::emit::writeTensorFiles(Operation *module, StringRef) { return missing(module, emitters); }

LogicalResult tt::emitpy::translateToPython(Operation *module, raw_ostream &, StringRef) {
  return missing(module, emitters);
}

bool vhlo::isPortableArtifact(StringRef bytes) {
  return bytes.starts_with("ML\xEFR") && bytes.take_front(32).contains("StableHLO_v");
}

OwningOpRef<ModuleOp> vhlo::deserializePortableArtifact(StringRef, MLIRContext *context) {
  missing(emitError(UnknownLoc::get(context)), artifacts);
  return nullptr;
}

FailureOr<std::string> vhlo::serializePortableArtifact(ModuleOp module, StringRef) {
  return missing(module, artifacts), failure();
}
