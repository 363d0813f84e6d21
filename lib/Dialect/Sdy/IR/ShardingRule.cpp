//===- ShardingRule.cpp - syntax and verification of sharding rules -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::sdy;

// Factors are named by the letters i to z, and after these z_1, z_2, ...
static constexpr char kFirstLetter = 'i';
static constexpr int64_t kLetters = 'z' - kFirstLetter + 1;

static std::string factorName(int64_t factor) {
  if (factor < kLetters)
    return std::string(1, static_cast<char>(kFirstLetter + factor));
  return "z_" + std::to_string(factor - kLetters + 1);
}

/// Reads one factor from the front of `word`.
static FailureOr<int64_t> takeFactor(StringRef &word) {
  if (word.empty() || word.front() < kFirstLetter || word.front() > 'z')
    return failure();
  int64_t factor = word.front() - kFirstLetter;
  word = word.drop_front();
  if (factor == kLetters - 1 && word.consume_front("_")) {
    int64_t number;
    if (word.consumeInteger(10, number) || number < 1 || number > std::numeric_limits<int32_t>::max())
      return failure();
    factor = kLetters - 1 + number;
  }
  return factor;
}

static ParseResult parseFactors(AsmParser &parser, SmallVectorImpl<int64_t> &factors) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  for (StringRef rest = word; !rest.empty();) {
    FailureOr<int64_t> factor = takeFactor(rest);
    if (failed(factor))
      return parser.emitError(loc) << "expected factors i to z or z_1, z_2, ..., found '" << word << "'";
    factors.push_back(*factor);
  }
  return success();
}

static ParseResult parseFactor(AsmParser &parser, int64_t &factor) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> factors;
  if (parseFactors(parser, factors))
    return failure();
  if (factors.size() != 1)
    return parser.emitError(loc) << "expected one factor, found " << factors.size();
  factor = factors.front();
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  return parseFactors(parser, factors) ? Attribute() : get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices())
    printer << factorName(factor);
}

ParseResult sdy::parseTensorMappings(AsmParser &parser, SmallVector<TensorMappingAttr> &mappings) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&] { return parser.parseCustomAttributeWithFallback(mappings.emplace_back()); });
}

void sdy::printTensorMappings(AsmPrinter &printer, ArrayRef<TensorMappingAttr> mappings) {
  printer << '(';
  llvm::interleaveComma(mappings, printer,
                        [&](TensorMappingAttr mapping) { printer.printStrippedAttrOrType(mapping); });
  printer << ')';
}

ParseResult sdy::parseFactorSizes(AsmParser &parser, SmallVector<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t factor, expected = sizes.size();
    if (parseFactor(parser, factor))
      return failure();
    if (factor != expected)
      return parser.emitError(loc) << "expected the size of factor " << factorName(expected) << ", found "
                                   << factorName(factor);
    return failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  });
}

void sdy::printFactorSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  if (sizes.empty())
    return;
  printer << " {";
  llvm::interleaveComma(llvm::enumerate(sizes), printer,
                        [&](auto entry) { printer << factorName(entry.index()) << '=' << entry.value(); });
  printer << '}';
}

ParseResult sdy::parseFactorsWithType(AsmParser &parser, SmallVector<int64_t> &factors, StringRef type) {
  if (failed(parser.parseOptionalKeyword(type)))
    return success();
  return failure(parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
    return parseFactor(parser, factors.emplace_back());
  }));
}

void sdy::printFactorsWithType(AsmPrinter &printer, ArrayRef<int64_t> factors, StringRef type) {
  if (factors.empty())
    return;
  printer << ' ' << type << "={";
  llvm::interleaveComma(factors, printer, [&](int64_t factor) { printer << factorName(factor); });
  printer << '}';
}

ParseResult sdy::parseIsCustomRule(AsmParser &parser, bool &isCustomRule) {
  isCustomRule = succeeded(parser.parseOptionalComma());
  return isCustomRule ? parser.parseKeyword("custom") : ParseResult(success());
}

void sdy::printIsCustomRule(AsmPrinter &printer, bool isCustomRule) {
  if (isCustomRule)
    printer << ", custom";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult DimMappingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> factors) {
  if (factors.empty() || llvm::any_of(factors, [](int64_t factor) { return factor < 0; }))
    return emitError() << "dim_mapping has " << (factors.empty() ? "no factors" : "a factor below 0")
                       << "; expected one or more of i, j, ...";
  return success();
}

/// Verifies that the factors have sizes and are not in `seen`, and adds them to it.
static LogicalResult verifyFactors(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> factors,
                                   size_t count, const Twine &where, llvm::SmallDenseSet<int64_t> &seen) {
  for (int64_t factor : factors) {
    if (factor < 0 || factor >= static_cast<int64_t>(count))
      return emitError() << "op_sharding_rule: " << where << " names factor "
                         << (factor < 0 ? std::to_string(factor) : factorName(factor)) << ", which has no size";
    if (!seen.insert(factor).second)
      return emitError() << "op_sharding_rule: " << where << " names factor " << factorName(factor)
                         << " a second time; expected it once";
  }
  return success();
}

LogicalResult OpShardingRuleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> sizes,
                                         ArrayRef<TensorMappingAttr> operands, ArrayRef<TensorMappingAttr> results,
                                         ArrayRef<int64_t> reduction, ArrayRef<int64_t> needReplication,
                                         ArrayRef<int64_t> permutation, ArrayRef<int64_t> blocked, bool) {
  for (auto [factor, size] : llvm::enumerate(sizes))
    if (size < 0)
      return emitError() << "op_sharding_rule: factor " << factorName(factor) << " has size " << size
                         << "; expected 0 or more";
  SmallVector<bool> isUsed(sizes.size()), isInResult(sizes.size());
  for (bool isResult : {false, true})
    for (auto [index, mapping] : llvm::enumerate(isResult ? results : operands)) {
      const StringRef what = isResult ? "result " : "operand ";
      llvm::SmallDenseSet<int64_t> ofTensor;
      for (DimMappingAttr dimension : mapping.getDimMappings()) {
        ArrayRef<int64_t> factors = dimension.getFactorIndices();
        if (failed(verifyFactors(emitError, factors, sizes.size(), what + Twine(index), ofTensor)))
          return failure();
        for (int64_t factor : factors) {
          if (factors.size() > 1 && sizes[factor] <= 1)
            return emitError() << "op_sharding_rule: " << what << index << " has factor " << factorName(factor)
                               << " of size " << sizes[factor]
                               << " next to others in a dimension; expected it alone, or not at all";
          isUsed[factor] = true;
          isInResult[factor] = isInResult[factor] || isResult;
        }
      }
    }
  for (auto [factor, used] : llvm::enumerate(isUsed))
    if (!used)
      return emitError() << "op_sharding_rule: factor " << factorName(factor) << " has a size, but no tensor has it";
  // A factor has one kind; whether propagation passes it is stated separately.
  llvm::SmallDenseSet<int64_t> ofKinds, ofBlocked;
  if (failed(verifyFactors(emitError, reduction, sizes.size(), "reduction", ofKinds)))
    return failure();
  for (int64_t factor : reduction)
    if (isInResult[factor])
      return emitError() << "op_sharding_rule: reduction names factor " << factorName(factor)
                         << ", which a result has; expected factors of operands alone";
  return failure(failed(verifyFactors(emitError, needReplication, sizes.size(), "need_replication", ofKinds)) ||
                 failed(verifyFactors(emitError, permutation, sizes.size(), "permutation", ofKinds)) ||
                 failed(verifyFactors(emitError, blocked, sizes.size(), "blocked_propagation", ofBlocked)));
}
