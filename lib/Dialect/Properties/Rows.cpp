//===- Rows.cpp - ops without a class of their own ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Rows.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tt;

namespace {
/// Calls the hooks of the class that ops share. These ops have no properties.
class RowModel final : public OperationName::Impl {
public:
  RowModel(StringRef name, Dialect &dialect, TypeID id, std::unique_ptr<OperationName::Impl> family)
      : Impl(name, &dialect, id, std::move(family->getInterfaceMap())), family(std::move(family)) {}

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands, SmallVectorImpl<OpFoldResult> &results) override {
    return family->foldHook(op, operands, results);
  }
  void getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) override {
    family->getCanonicalizationPatterns(patterns, context);
  }
  bool hasTrait(TypeID trait) override { return trait == family->getTypeID() || family->hasTrait(trait); }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override { return family->getParseAssemblyFn(); }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) override {
    family->printAssembly(op, printer, defaultDialect);
  }
  LogicalResult verifyInvariants(Operation *op) override { return family->verifyInvariants(op); }
  LogicalResult verifyRegionInvariants(Operation *op) override { return family->verifyRegionInvariants(op); }

  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) override {
    return family->getInherentAttr(op, name);
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) override {
    family->setInherentAttr(op, name, value);
  }
  void populateInherentAttrs(Operation *, NamedAttrList &) override {}
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) override {
    return success();
  }
  int getOpPropertyByteSize() override { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) override {}
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties properties, Attribute attribute,
                                      function_ref<InFlightDiagnostic()> emitError) override {
    return family->setPropertiesFromAttr(name, properties, attribute, emitError);
  }
  Attribute getPropertiesAsAttr(Operation *) override { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) override {}
  bool compareProperties(OpaqueProperties, OpaqueProperties) override { return true; }
  llvm::hash_code hashProperties(OpaqueProperties) override { return llvm::hash_code(0); }

private:
  std::unique_ptr<OperationName::Impl> family;
};
} // namespace

void tt::registerRow(Dialect &dialect, StringRef name, TypeID id, std::unique_ptr<OperationName::Impl> family) {
  RegisteredOperationName::insert(std::make_unique<RowModel>(name, dialect, id, std::move(family)), /*attrNames=*/{});
}
