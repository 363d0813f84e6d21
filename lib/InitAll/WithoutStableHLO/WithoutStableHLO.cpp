//===- WithoutStableHLO.cpp - what a build without StableHLO says ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Lowering.h"
#include "ttmlir/Dialect/Vhlo/Transforms/PortableArtifact.h"
#include "ttmlir/InitStableHLO.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

static constexpr StringLiteral notHere =
    "needs StableHLO, which this build is without; `make build` makes one with it (CMake: TTMLIR_BUILD_STABLEHLO)";

namespace {

/// Text of a dialect that is not here gets an error that says how to have it.
class AbsentDialect : public Dialect {
public:
  AbsentDialect(StringRef name, MLIRContext *context, TypeID id) : Dialect(name, context, id) {}

  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override { return refuseOp; }

  Type parseType(DialectAsmParser &parser) const override {
    parser.emitError(parser.getNameLoc(), notHere);
    return {};
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    parser.emitError(parser.getNameLoc(), notHere);
    return {};
  }

private:
  static ParseResult refuseOp(OpAsmParser &parser, OperationState &) {
    return parser.emitError(parser.getNameLoc(), notHere);
  }
};

class AbsentStableHLO {};
class AbsentChlo {};
class AbsentVhlo {};

template <class Name> void insert(DialectRegistry &registry, StringRef name) {
  registry.insert(TypeID::get<Name>(), name, [name](MLIRContext *context) -> Dialect * {
    return context->getOrLoadDialect(name, TypeID::get<Name>(), [=]() -> std::unique_ptr<Dialect> {
      return std::make_unique<AbsentDialect>(name, context, TypeID::get<Name>());
    });
  });
}

} // namespace

void tt::registerStableHLODialects(DialectRegistry &registry) {
  insert<AbsentStableHLO>(registry, "stablehlo");
  insert<AbsentChlo>(registry, "chlo");
  insert<AbsentVhlo>(registry, "vhlo");
}

void tt::registerStableHLOPasses() {}

std::string tt::stableHLOLowering(StringRef, MLIRContext *) { return {}; }

bool vhlo::isPortableArtifact(StringRef bytes) {
  return bytes.starts_with("ML\xEFR") && bytes.take_front(32).contains("StableHLO_v");
}

OwningOpRef<ModuleOp> vhlo::deserializePortableArtifact(StringRef, MLIRContext *context) {
  emitError(UnknownLoc::get(context), notHere);
  return nullptr;
}

FailureOr<std::string> vhlo::serializePortableArtifact(ModuleOp module, StringRef) {
  return emitError(module.getLoc(), notHere), failure();
}
