//===- Properties.cpp - properties of ops from dictionaries ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Properties.h"
#include "ttmlir/Dialect/NearestName.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;

/// Names that people confuse: `numeric_stable` and `numericStable` are equal.
static std::string plain(StringRef name) {
  std::string letters;
  for (char letter : name)
    if (letter != '_' && letter != '-')
      letters += llvm::toLower(letter);
  return letters;
}

StringRef tt::nearestName(StringRef name, ArrayRef<StringRef> known) {
  const std::string wrong = plain(name);
  unsigned fewest = wrong.size() / 3 + 1;
  StringRef found;
  for (StringRef each : known) {
    unsigned edits = StringRef(wrong).edit_distance(plain(each), /*AllowReplacements=*/true, fewest);
    if (edits < fewest) {
      fewest = edits;
      found = each;
    }
  }
  return found;
}

std::string tt::unknownAttribute(StringRef op, StringRef name, ArrayRef<StringRef> known) {
  std::string text = (op + " has no attribute '" + name + "'").str();
  if (StringRef near = nearestName(name, known); !near.empty())
    text += ("; did you mean '" + near + "'?").str();
  else if (!known.empty())
    text += "; it has " + llvm::join(known, ", ");
  return text;
}

bool tt::isNearAttribute(StringRef name, ArrayRef<StringRef> known) { return !nearestName(name, known).empty(); }

LogicalResult Property::refuse(Attribute value, EmitError emitError) const {
  if (emitError)
    emitError() << "Invalid attribute `" << name << "` in property conversion: " << value;
  return failure();
}

/// Segment sizes also have an older name.
static const Property *propertyNamed(ArrayRef<Property> properties, StringRef name) {
  if (name == "operand_segment_sizes")
    name = "operandSegmentSizes";
  else if (name == "result_segment_sizes")
    name = "resultSegmentSizes";
  return llvm::find_if(properties, [&](const Property &each) { return each.name == name; });
}

/// Whether the properties are those of an op that is being built: `dictionary` then has all of its attributes, also
/// discardable ones. Generated builders pass no emitError; MLIR's C API, which infers result types, passes one that
/// states it.
static bool isBuilding(Property::EmitError emitError) {
  if (!emitError)
    return true;
  InFlightDiagnostic error = emitError();
  const std::string text = error.getUnderlyingDiagnostic()->str();
  error.abandon();
  return StringRef(text).contains("failed properties conversion while building");
}

LogicalResult tt::setProperties(StringRef op, Attribute dictionary, Property::EmitError emitError,
                                ArrayRef<Property> properties) {
  auto given = dyn_cast<DictionaryAttr>(dictionary);
  if (!given) {
    if (emitError)
      emitError() << op << ": properties are " << dictionary << "; expected a dictionary";
    return failure();
  }
  for (NamedAttribute each : given) {
    const Property *property = propertyNamed(properties, each.getName());
    if (property == properties.end()) {
      if (isBuilding(emitError))
        continue;
      SmallVector<StringRef> known;
      for (const Property &other : properties)
        if (!other.name.ends_with("SegmentSizes"))
          known.push_back(other.name);
      emitError() << unknownAttribute(op, each.getName(), known);
      return failure();
    }
    if (failed(property->set(each.getValue(), emitError)))
      return failure();
  }
  return success();
}
