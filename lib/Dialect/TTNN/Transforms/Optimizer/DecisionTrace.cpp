//===- DecisionTrace.cpp - why tensors lie where they lie -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DecisionTrace.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tt;

std::string ttnn::locationText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getLoc();
  return text;
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static std::string escaped(StringRef text) {
  std::string created;
  llvm::raw_string_ostream out(created);
  llvm::printHTMLEscaped(text, out);
  return created;
}

static std::string microseconds(std::optional<double> ns) {
  return ns ? llvm::formatv("{0:f2}", *ns / 1000).str() : std::string("–");
}

static StringRef stringOf(const llvm::json::Object &object, StringRef name) {
  return object.getString(name).value_or("");
}

static constexpr StringLiteral style = R"(<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1c2024; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #dde1e5; vertical-align: top }
th { color: #596069; font-weight: 600 } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.place { white-space: nowrap } .l1 { color: #1a7f37 } .spilled { color: #b35900 } code { font-size: .9em; overflow-wrap: anywhere }
summary { cursor: pointer } tr.chosen td { font-weight: 600 } tr.refused td { color: #8a9199 }
details table { margin: .5rem 0 1rem; font-size: .9em }
@media (prefers-color-scheme: dark) { body { color: #e6e8ea; background: #14171a } th, td { border-color: #30363d } th { color: #9aa4ad } .l1 { color: #56d364 } .spilled { color: #f0a04b } }
</style>
)";

static void printCandidates(raw_ostream &out, const llvm::json::Object &op) {
  const llvm::json::Array *candidates = op.getArray("candidates");
  if (!candidates || candidates->size() < 2)
    return;
  out << "<details><summary>" << candidates->size() << " places were possible</summary><table><tr><th>place</th>"
      << "<th class=number>this op, us</th><th class=number>with what leads to it, us</th><th>bound by</th>"
      << "<th class=number>L1 of a core</th><th></th></tr>\n";
  for (const llvm::json::Value &value : *candidates) {
    const llvm::json::Object &each = *value.getAsObject();
    const bool isChosen = stringOf(each, "layout") == stringOf(op, "chosen");
    StringRef refused = stringOf(each, "refused");
    out << "<tr"
        << (isChosen          ? " class=chosen"
            : refused.empty() ? ""
                              : " class=refused")
        << "><td class=place>" << escaped(stringOf(each, "layout")) << "</td><td class=number>"
        << microseconds(each.getNumber("ns")) << "</td><td class=number>" << microseconds(each.getNumber("path_ns"))
        << "</td><td>" << escaped(stringOf(each, "bound")) << "</td><td class=number>"
        << each.getInteger("l1_bytes").value_or(0) << "</td><td>" << escaped(refused) << "</td></tr>\n";
  }
  out << "</table></details>";
}

static void printPage(raw_ostream &out, const llvm::json::Object &trace) {
  StringRef function = stringOf(trace, "function");
  out << "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
         "content=\"width=device-width\">\n<title>"
      << escaped(function) << ": where tensors lie</title>\n"
      << style << "<h1>Where the tensors of <code>" << escaped(function) << "</code> lie, and why</h1>\n<p>"
      << "Estimated time on " << escaped(stringOf(trace, "chip")) << ": <b>" << microseconds(trace.getNumber("ns"))
      << " us</b>; with everything in DRAM " << microseconds(trace.getNumber("dram_ns")) << " us. A core has "
      << trace.getInteger("l1_bytes_per_core").value_or(0) << " bytes of L1 for tensors and circular buffers; at most "
      << trace.getInteger("l1_peak_bytes").value_or(0) << " are used at once.</p>\n";
  const llvm::json::Array *spills = trace.getArray("spills");
  if (spills && !spills->empty()) {
    out << "<h2>Back to DRAM</h2><table><tr><th class=number>op</th><th>result of</th><th>why</th></tr>\n";
    for (const llvm::json::Value &value : *spills) {
      const llvm::json::Object &each = *value.getAsObject();
      out << "<tr><td class=number>" << each.getInteger("op").value_or(0) << "</td><td><code>"
          << escaped(stringOf(each, "name")) << "</code></td><td>" << escaped(stringOf(each, "reason"))
          << "</td></tr>\n";
    }
    out << "</table>\n";
  }
  out << "<h2>Ops</h2><table><tr><th class=number>op</th><th>name</th><th>result</th><th>place</th>"
      << "<th class=number>us</th><th>bound by</th><th>reason</th></tr>\n";
  const llvm::json::Array *ops = trace.getArray("ops");
  for (const llvm::json::Value &value : ops ? *ops : llvm::json::Array()) {
    const llvm::json::Object &op = *value.getAsObject();
    StringRef place = stringOf(op, "place");
    const bool isSpilled = !op.getString("spilled").value_or("").empty();
    out << "<tr><td class=number>" << op.getInteger("index").value_or(0) << "</td><td><code>"
        << escaped(stringOf(op, "op")) << "</code></td><td>" << escaped(stringOf(op, "type"))
        << "</td><td class=\"place"
        << (isSpilled                 ? " spilled"
            : place.starts_with("L1") ? " l1"
                                      : "")
        << "\">" << escaped(place) << "</td><td class=number>" << microseconds(op.getNumber("ns")) << "</td><td>"
        << escaped(stringOf(op, "bound")) << "</td><td>" << escaped(stringOf(op, "reason"));
    if (isSpilled)
      out << "; " << escaped(stringOf(op, "spilled"));
    out << "<br><code>" << escaped(stringOf(op, "location")) << "</code>";
    printCandidates(out, op);
    out << "</td></tr>\n";
  }
  out << "</table></html>\n";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string pathOf(StringRef folder, StringRef function, StringRef suffix) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, function + suffix);
  return path.str().str();
}

/// Completely or not at all.
static std::error_code write(StringRef path, function_ref<void(raw_ostream &)> print) {
  std::error_code error;
  const std::string unfinished = (path + ".tmp").str();
  {
    llvm::raw_fd_ostream file(unfinished, error, llvm::sys::fs::OF_Text);
    if (error)
      return error;
    print(file);
    file.close();
    error = file.error();
    file.clear_error();
  }
  return error ? error : llvm::sys::fs::rename(unfinished, path);
}

LogicalResult ttnn::writeDecisionTrace(Operation *op, StringRef folder, StringRef function,
                                       const llvm::json::Object &trace) {
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error)
    error = write(pathOf(folder, function, ".json"), [&](raw_ostream &out) {
      out << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(trace)));
    });
  if (!error)
    error = write(pathOf(folder, function, ".html"), [&](raw_ostream &out) { printPage(out, trace); });
  if (error)
    return op->emitError() << "decision-trace-dir '" << folder << "' cannot be written: " << error.message();
  return success();
}

llvm::json::Object ttnn::readDecisionTrace(StringRef folder, StringRef function) {
  auto file = llvm::MemoryBuffer::getFile(pathOf(folder, function, ".json"));
  if (!file)
    return {};
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return {};
  }
  const llvm::json::Object *object = value->getAsObject();
  return object ? *object : llvm::json::Object();
}
