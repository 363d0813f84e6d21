//===- ModuleText.cpp - printed forms of a module and its ops -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ModuleText.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt::ttnn;

/// Elements of an attribute that are shown.
static constexpr int64_t shownElements = 16;
/// String streams have no buffer of their own, and the printer writes a few characters at a time.
static constexpr size_t bufferBytes = 1 << 12;

/// The printer converts a resource to hexadecimal text first and then drops it as too long: several times the memory
/// and the time of all the rest. It is therefore given empty resources.
static void printWithoutResources(ModuleOp module, AsmState &state, std::string &text) {
  std::vector<std::pair<AsmResourceBlob *, AsmResourceBlob>> emptied;
  DenseSet<AsmResourceBlob *> known;
  module.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs())
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr.getValue())) {
        DenseResourceElementsHandle handle = resource.getRawHandle();
        if (AsmResourceBlob *blob = handle.getBlob(); blob && known.insert(blob).second)
          emptied.emplace_back(blob, std::exchange(*blob, AsmResourceBlob({}, 1, nullptr, false)));
      }
  });
  llvm::raw_string_ostream stream(text);
  stream.SetBufferSize(bufferBytes);
  module->print(stream, state);
  stream.flush();
  for (auto &[blob, values] : emptied)
    *blob = std::move(values);
}

ModuleText::ModuleText(ModuleOp module)
    : state(module, OpPrintingFlags().elideLargeElementsAttrs(shownElements).elideLargeResourceString(0), &places) {
  printWithoutResources(module, state, text);
  for (StringRef rest = text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    lines.push_back(line);
    rest = after;
  }
  // Aliases come first, each after those that it contains.
  for (StringRef line : lines) {
    auto [name, value] = line.split(" = ");
    if (!line.starts_with("#") && !line.starts_with("!"))
      break;
    std::string full;
    expand(value, full);
    aliases.try_emplace(name, std::move(full));
  }
}

void ModuleText::expand(StringRef some, std::string &to) const {
  bool quoted = false;
  size_t copied = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    const char c = some[i];
    if (c == '\\' && quoted)
      ++i;
    else if (c == '"')
      quoted = !quoted;
    if (quoted || (c != '#' && c != '!'))
      continue;
    // The name of a dialect's attribute or type contains a dot, that of an alias does not.
    size_t end = i + 1;
    while (end < some.size() && (llvm::isAlnum(some[end]) || some[end] == '_' || some[end] == '$' || some[end] == '.'))
      ++end;
    if (auto alias = aliases.find(some.slice(i, end)); alias != aliases.end()) {
      to += some.slice(copied, i);
      to += alias->second;
      copied = end;
    }
    i = end - 1;
  }
  to += some.substr(copied);
}

std::string ModuleText::of(Operation *op) const {
  const size_t first = places.lookup(op).first - 1, next = places.lookup(op->getNextNode()).first - 1;
  const size_t indent = lines[first].find_first_not_of(' ');
  std::string full;
  for (StringRef line : ArrayRef(lines).slice(first, next - first)) {
    if (!full.empty())
      full += '\n';
    expand(line.drop_front(indent), full);
  }
  return full;
}

std::string ModuleText::of(Value value) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  value.printAsOperand(stream, state);
  return name.substr(name.starts_with('%'));
}
