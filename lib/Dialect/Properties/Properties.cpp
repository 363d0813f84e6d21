//===- Properties.cpp - properties of ops from dictionaries ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Properties.h"
#include "ttmlir/Dialect/NearestName.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ODSSupport.h"
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

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Attribute tt::detail::getSegments(MLIRContext *context, const void *storage, size_t count) {
  return DenseI32ArrayAttr::get(context, ArrayRef(static_cast<const int32_t *>(storage), count));
}

bool tt::detail::setSegments(void *storage, size_t count, Attribute value) {
  auto sizes = dyn_cast_if_present<DenseI32ArrayAttr>(value);
  if (!sizes || static_cast<size_t>(sizes.size()) != count)
    return false;
  llvm::copy(sizes.asArrayRef(), static_cast<int32_t *>(storage));
  return true;
}

/// Segment sizes also have an older name.
static const Property *propertyNamed(PropertyTable table, StringRef name) {
  if (name == "operand_segment_sizes")
    name = "operandSegmentSizes";
  else if (name == "result_segment_sizes")
    name = "resultSegmentSizes";
  return llvm::find_if(table, [&](const Property &each) { return each.name == name; });
}

//===----------------------------------------------------------------------===//
// Dictionaries
//===----------------------------------------------------------------------===//

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

LogicalResult tt::setProperties(StringRef op, Attribute dictionary, Property::EmitError emitError, void *properties,
                                PropertyTable table) {
  auto given = dyn_cast<DictionaryAttr>(dictionary);
  if (!given) {
    if (emitError)
      emitError() << op << ": properties are " << dictionary << "; expected a dictionary";
    return failure();
  }
  for (NamedAttribute each : given) {
    const Property *property = propertyNamed(table, each.getName());
    if (property == table.end()) {
      if (isBuilding(emitError))
        continue;
      SmallVector<StringRef> known;
      for (const Property &other : table)
        if (!other.isSegments())
          known.push_back(other.name);
      emitError() << unknownAttribute(op, each.getName(), known);
      return failure();
    }
    if (property->isSegments()) {
      auto *sizes = reinterpret_cast<int32_t *>(static_cast<char *>(properties) + property->offset);
      if (failed(convertFromAttribute(MutableArrayRef(sizes, property->kind->segments), each.getValue(), emitError)))
        return failure();
    } else if (!property->set(properties, each.getValue())) {
      if (emitError)
        emitError() << "Invalid attribute `" << property->name << "` in property conversion: " << each.getValue();
      return failure();
    }
  }
  return success();
}

Attribute tt::propertiesAsAttr(MLIRContext *context, const void *properties, PropertyTable table) {
  NamedAttrList attributes;
  populateInherentAttrs(context, properties, table, attributes);
  return attributes.empty() ? Attribute() : Attribute(attributes.getDictionary(context));
}

llvm::hash_code tt::hashOfProperties(const void *properties, PropertyTable table) {
  llvm::hash_code hash(0);
  for (const Property &each : table) {
    const void *storage = static_cast<const char *>(properties) + each.offset;
    if (each.isSegments())
      hash = llvm::hash_combine(hash, ArrayRef(static_cast<const int32_t *>(storage), each.kind->segments));
    else
      hash = llvm::hash_combine(hash, each.get(nullptr, properties).getAsOpaquePointer());
  }
  return hash;
}

std::optional<Attribute> tt::inherentAttr(MLIRContext *context, const void *properties, PropertyTable table,
                                          StringRef name) {
  const Property *property = propertyNamed(table, name);
  return property == table.end() ? std::nullopt : std::optional(property->get(context, properties));
}

void tt::setInherentAttr(void *properties, PropertyTable table, StringRef name, Attribute value) {
  if (const Property *property = propertyNamed(table, name); property != table.end())
    (void)property->set(properties, value);
}

void tt::populateInherentAttrs(MLIRContext *context, const void *properties, PropertyTable table,
                               NamedAttrList &attributes) {
  for (const Property &each : table)
    if (Attribute value = each.get(context, properties))
      attributes.append(each.name, value);
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

/// Older versions have sizes of segments as an attribute among the others, newer ones as numbers after them.
static bool hasSegmentsLast(uint64_t version) { return version >= 6; } // kNativePropertiesODSSegmentSize

LogicalResult tt::readProperties(DialectBytecodeReader &reader, void *properties, PropertyTable table) {
  const bool segmentsLast = hasSegmentsLast(reader.getBytecodeVersion());
  for (const Property &each : table) {
    if (each.isSegments() && segmentsLast)
      continue;
    Attribute value;
    if (failed(each.isOptional ? reader.readOptionalAttribute(value) : reader.readAttribute(value)))
      return failure();
    if (each.isSegments()) {
      auto sizes = dyn_cast<DenseI32ArrayAttr>(value);
      if (!sizes || static_cast<size_t>(sizes.size()) > each.kind->segments)
        return reader.emitError("size mismatch for operand/result_segment_size");
      llvm::copy(sizes.asArrayRef(), reinterpret_cast<int32_t *>(static_cast<char *>(properties) + each.offset));
    } else if (!each.set(properties, value) && value) {
      return reader.emitError() << "expected " << each.kind->name() << ", but got: " << value;
    }
  }
  if (segmentsLast)
    for (const Property &each : table)
      if (each.isSegments()) {
        auto *sizes = reinterpret_cast<int32_t *>(static_cast<char *>(properties) + each.offset);
        if (failed(reader.readSparseArray(MutableArrayRef(sizes, each.kind->segments))))
          return failure();
      }
  return success();
}

void tt::writeProperties(DialectBytecodeWriter &writer, MLIRContext *context, const void *properties,
                         PropertyTable table) {
  const bool segmentsLast = hasSegmentsLast(writer.getBytecodeVersion());
  for (const Property &each : table)
    if (!each.isSegments() || !segmentsLast) {
      Attribute value = each.get(context, properties);
      each.isOptional ? writer.writeOptionalAttribute(value) : writer.writeAttribute(value);
    }
  if (segmentsLast)
    for (const Property &each : table)
      if (each.isSegments()) {
        const auto *sizes = reinterpret_cast<const int32_t *>(static_cast<const char *>(properties) + each.offset);
        writer.writeSparseArray(ArrayRef(sizes, each.kind->segments));
      }
}
