//===- PortableArtifact.cpp - StableHLO in files that stay readable -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Vhlo/Transforms/PortableArtifact.h"

#include "Layout.h"

#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeReaderConfig.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::vhlo;

static constexpr StringLiteral magic = "ML\xEFR";
static constexpr StringLiteral producer = "StableHLO_v";

/// Returns the text after the name of the producer, up to its end.
static std::optional<StringRef> producedBy(StringRef bytes) {
  if (!bytes.consume_front(magic))
    return std::nullopt;
  if (!takeVarInt(bytes) || !bytes.consume_front(producer))
    return std::nullopt;
  return bytes.take_until([](char c) { return c == '\0'; });
}

bool vhlo::isPortableArtifact(StringRef bytes) { return producedBy(bytes).has_value(); }

std::optional<Version> vhlo::portableArtifactVersion(StringRef bytes) {
  std::optional<StringRef> text = producedBy(bytes);
  return text ? Version::parse(*text) : std::nullopt;
}

/// Reads floats of the builtin dialect as later versions of MLIR write them: by a code each. Ops of other dialects than
/// VHLO have such types.
static LogicalResult readLaterFloat(DialectBytecodeReader &reader, StringRef dialect, Type &type) {
  uint64_t code = 0;
  if (dialect != "builtin" || failed(reader.readVarInt(code)))
    return success(); // the dialect reads it
  MLIRContext *context = reader.getContext();
  constexpr uint64_t first = 21;
  const Type types[] = {
      FloatTF32Type::get(context),         Float8E5M2Type::get(context),     Float8E4M3Type::get(context),
      Float8E4M3FNType::get(context),      Float8E5M2FNUZType::get(context), Float8E4M3FNUZType::get(context),
      Float8E4M3B11FNUZType::get(context), Float8E3M4Type::get(context),     Float4E2M1FNType::get(context),
      Float6E2M3FNType::get(context),      Float6E3M2FNType::get(context),   Float8E8M0FNUType::get(context)};
  if (code >= first && code - first < std::size(types))
    type = types[code - first];
  return success();
}

OwningOpRef<ModuleOp> vhlo::deserializePortableArtifact(StringRef bytes, MLIRContext *context) {
  Location loc = UnknownLoc::get(context);
  std::optional<StringRef> text = producedBy(bytes);
  if (!text)
    return emitError(loc, "is no portable artifact; expected MLIR bytecode produced by StableHLO"), nullptr;
  std::optional<Version> version = Version::parse(*text);
  if (!version)
    return emitError(loc) << "the portable artifact has the version '" << *text << "'; expected MAJOR.MINOR.PATCH",
           nullptr;
  if (version->withoutPatch() < Version::minimum() || Version::current().withoutPatch() < version->withoutPatch())
    return emitError(loc) << "the portable artifact has the version " << version->str() << "; versions "
                          << Version::minimum().str() << " to " << Version::current().str() << " can be read",
           nullptr;
  if (std::optional<std::string> wrong = checkLayout(bytes))
    return emitError(loc) << "the portable artifact is damaged: " << *wrong, nullptr;
  context->loadDialect<VhloDialect>();
  // The reader takes data of any alignment from a buffer with the alignment of an allocation.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, "portable artifact");
  // The reader continues after some errors, with impossible attributes.
  bool hasErrors = false;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    hasErrors |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // for others to report
  });
  ParserConfig config(context);
  config.getBytecodeReaderConfig().attachTypeCallback(readLaterFloat);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(buffer->getBuffer(), config);
  if (module && (hasErrors || failed(convertToVersion(*module, Version::current())) ||
                 failed(legalizeToStableHLO(*module)) || failed(verify(*module))))
    module = nullptr;
  return module;
}

/// The version of MLIR's bytecode in which a version is written: that of the first row above it.
static int64_t bytecodeVersion(const Version &version) {
  static constexpr std::pair<Version, int64_t> below[] = {
      {{0, 10, 0}, 0}, {{0, 12, 0}, 1}, {{0, 14, 0}, 3}, {{0, 15, 0}, 4}};
  for (auto [first, number] : below)
    if (version < first)
      return number;
  return 6;
}

FailureOr<std::string> vhlo::serializePortableArtifact(ModuleOp module, StringRef version) {
  auto error = [&](const Twine &text) { emitError(module.getLoc(), text); };
  FailureOr<Version> target = Version::parseTarget(version, error);
  if (failed(target))
    return failure();
  OwningOpRef<ModuleOp> copy = module.clone();
  const bool allowOthers = !(*target < Version{1, 11, 0});
  if (failed(legalizeToVhlo(*copy, allowOthers)) || failed(convertToVersion(*copy, *target)))
    return failure();
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  const std::string writtenBy = (producer + target->str()).str(); // which the configuration refers to
  BytecodeWriterConfig config(writtenBy);
  config.setDesiredBytecodeVersion(bytecodeVersion(*target));
  if (failed(writeBytecodeToFile(*copy, stream, config)))
    return emitError(module.getLoc(), "the module cannot be written as bytecode"), failure();
  return bytes;
}
