//===- VhloDialect.cpp - the VHLO dialect and its ops ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bytecode.h"

#include "ttmlir/Dialect/Properties.h"
#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"

#include <memory>

using namespace mlir;
using namespace mlir::vhlo;

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloType)

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Inherent attributes are one dictionary; an op without any has no properties, as in a file.
using Properties = DictionaryAttr;

namespace {
/// Properties in a file: the attributes in the order of the row, which is alphabetical.
struct PropertiesModel : BytecodeOpInterface::FallbackModel<PropertiesModel> {
  static LogicalResult readProperties(DialectBytecodeReader &reader, OperationState &state) {
    const OpRow &row = *findOp(state.name.getStringRef());
    NamedAttrList attributes;
    for (const Inherent &inherent : row.attributes) {
      Attribute value;
      if (failed(reader.readAttribute(value)))
        return failure();
      attributes.append(inherent.name, value);
    }
    state.getOrAddProperties<Properties>() = attributes.getDictionary(reader.getContext());
    return success();
  }
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const {
    DictionaryAttr attributes = inherentAttributes(op);
    for (const Inherent &inherent : findOp(op->getName().getStringRef())->attributes)
      writer.writeAttribute(attributes.get(inherent.name));
  }
};

/// The hooks of all ops: each looks up its row.
class OpModel final : public OperationName::Impl {
public:
  OpModel(const OpRow &row, Dialect *dialect, TypeID id, mlir::detail::InterfaceMap interfaces)
      : Impl((Twine("vhlo.") + row.name).str(), dialect, id, std::move(interfaces)), row(row) {}

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>, SmallVectorImpl<OpFoldResult> &) override {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) override {}
  bool hasTrait(TypeID trait) override {
    if (trait == TypeID::get<OpTrait::IsTerminator>())
      return row.name == "return_v1";
    return trait == TypeID::get<OpTrait::IsIsolatedFromAbove>() && row.name == "func_v1";
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override {
    return [](OpAsmParser &parser, OperationState &) -> ParseResult {
      return parser.emitError(parser.getNameLoc(), "ops of vhlo are written in the generic form, with quotes");
    };
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) override { printer.printGenericOp(op); }
  LogicalResult verifyInvariants(Operation *op) override {
    for (const Inherent &inherent : row.attributes)
      if (!op->getAttr(inherent.name))
        return op->emitOpError() << "has no attribute " << inherent.name;
    return success();
  }
  LogicalResult verifyRegionInvariants(Operation *) override { return success(); }

  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) override {
    if (!row.find(name))
      return std::nullopt;
    Properties properties = of(op);
    return properties ? properties.get(name) : Attribute();
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) override {
    NamedAttrList attributes(of(op));
    if (value)
      attributes.set(name, value);
    else
      attributes.erase(name);
    of(op) = attributes.getDictionary(op->getContext());
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &attributes) override {
    if (!row.attributes.empty() && of(op))
      attributes.append(of(op).getValue());
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) override {
    return success();
  }
  int getOpPropertyByteSize() override { return row.attributes.empty() ? 0 : sizeof(Properties); }
  void initProperties(OperationName, OpaqueProperties storage, OpaqueProperties init) override {
    if (storage)
      new (storage.as<Properties *>()) Properties(init ? *init.as<Properties *>() : Properties());
  }
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult setPropertiesFromAttr(OperationName, OpaqueProperties properties, Attribute attribute,
                                      function_ref<InFlightDiagnostic()> emitError) override {
    auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
    if (!dictionary) {
      if (emitError)
        emitError() << "vhlo." << row.name << ": properties are no dictionary";
      return failure();
    }
    for (NamedAttribute each : dictionary)
      if (!row.find(each.getName())) {
        if (emitError) {
          SmallVector<StringRef> known;
          for (const Inherent &inherent : row.attributes)
            known.push_back(inherent.name);
          emitError() << tt::unknownAttribute(("vhlo." + Twine(row.name)).str(), each.getName(), known);
        }
        return failure();
      }
    if (!row.attributes.empty())
      *properties.as<Properties *>() = dictionary;
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) override {
    return row.attributes.empty() ? Attribute() : Attribute(of(op));
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) override {
    *to.as<Properties *>() = *from.as<Properties *>();
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) override {
    return row.attributes.empty() || *a.as<Properties *>() == *b.as<Properties *>();
  }
  llvm::hash_code hashProperties(OpaqueProperties properties) override {
    return row.attributes.empty() ? llvm::hash_code(0) : hash_value(*properties.as<Properties *>());
  }

private:
  static Properties &of(Operation *op) { return *op->getPropertiesStorage().as<Properties *>(); }

  const OpRow &row;
};
} // namespace

DictionaryAttr vhlo::inherentAttributes(Operation *op) {
  DictionaryAttr attributes;
  if (op->getPropertiesStorageSize())
    attributes = *op->getPropertiesStorage().as<Properties *>();
  return attributes ? attributes : DictionaryAttr::get(op->getContext());
}

Operation *vhlo::createOp(OpBuilder &builder, Location loc, const OpRow &row, TypeRange results, ValueRange operands,
                          DictionaryAttr inherent, DictionaryAttr discardable, unsigned regions) {
  OperationState state(loc, (Twine("vhlo.") + row.name).str(), operands, results);
  if (!row.attributes.empty())
    state.getOrAddProperties<Properties>() = inherent;
  state.addAttributes(discardable.getValue());
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return builder.create(state);
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

VhloDialect::VhloDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<VhloDialect>()) {
  registerData();
  addBytecode(*this);
  // One for each row, shared by all contexts.
  static const std::unique_ptr<SelfOwningTypeID[]> ids(new SelfOwningTypeID[opRows().size()]);
  for (auto [index, row] : llvm::enumerate(opRows())) {
    mlir::detail::InterfaceMap interfaces;
    if (!row.attributes.empty())
      interfaces.insertModels<PropertiesModel>();
    SmallVector<StringRef> names = llvm::map_to_vector(row.attributes, [](const Inherent &each) { return each.name; });
    RegisteredOperationName::insert(std::make_unique<OpModel>(row, this, ids[index].getTypeID(), std::move(interfaces)),
                                    names);
  }
}
