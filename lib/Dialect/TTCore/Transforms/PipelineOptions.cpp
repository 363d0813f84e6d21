//===- PipelineOptions.cpp - options of pipelines, described --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"
#include "ttmlir/Dialect/NearestName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <mutex>

using namespace mlir;
using namespace mlir::tt::ttcore;

OptionValues OptionValues::boolean() { return {Kind::Boolean, "true or false"}; }

OptionValues OptionValues::integer(int64_t least, int64_t most, StringRef expected) {
  std::string words = expected.str();
  if (words.empty())
    words = least == 0 ? "an integer of 0 or more" : "an integer";
  return {Kind::Integer, words, least, most};
}

OptionValues OptionValues::choice(std::vector<Choice> choices, StringRef reason) {
  std::string words;
  for (const auto &[i, each] : llvm::enumerate(choices))
    words += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + each.value;
  OptionValues values{Kind::Choice, choices.empty() ? "nothing" : words};
  values.choices = std::move(choices);
  values.reason = reason;
  return values;
}

std::optional<std::string> OptionValues::canonical(StringRef value) const {
  // As llvm::cl reads them. An option without a value is on.
  const auto boolean = [&]() -> std::optional<std::string> {
    if (value.empty() || value == "1" || value.equals_insensitive("true"))
      return "true";
    if (value == "0" || value.equals_insensitive("false"))
      return "false";
    return std::nullopt;
  };
  switch (kind) {
  case Kind::Boolean:
    return boolean();
  case Kind::Integer: {
    int64_t number;
    if (value.getAsInteger(0, number) || number < least || number > most)
      return std::nullopt;
    return std::to_string(number);
  }
  case Kind::Number: {
    double number;
    if (value.getAsDouble(number) || !(number > 0 && number <= 1))
      return std::nullopt;
    return value.str();
  }
  case Kind::Text:
    return value.str();
  case Kind::Choice:
    const auto has = [&](StringRef each) {
      return llvm::any_of(choices, [&](const Choice &choice) { return choice.value == each; });
    };
    if (has(value))
      return value.str();
    if (std::optional<std::string> state = boolean(); state && has(*state))
      return state;
    return std::nullopt;
  }
  return std::nullopt;
}

std::string OptionDescription::check(std::string &value) const {
  SmallVector<StringRef> parts;
  StringRef text = value;
  if (isList && text.starts_with("{") && text.ends_with("}"))
    text = text.drop_front().drop_back();
  if (isList)
    text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/!text.empty());
  else
    parts.push_back(text);
  std::string written;
  for (auto [i, part] : llvm::enumerate(parts)) {
    std::optional<std::string> found = values.canonical(part.trim());
    if (!found) {
      std::string message = "option " + name + " is '" + value + "'; expected " + values.expected;
      if (isList)
        message += " for each of its parts";
      if (!values.reason.empty())
        message += ": " + values.reason;
      return message;
    }
    written += (i ? "," : "") + *found;
  }
  value = written;
  return "";
}

std::string DescribedOptions::written(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

namespace {
/// Creates descriptions once, on the first request: constructing options takes longer than registering a pipeline.
struct Entry {
  PipelineDescription description;
  std::function<std::vector<OptionDescription>()> options;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> entries;
};
} // namespace

static Registry &registry() {
  static Registry pipelines;
  return pipelines;
}

void tt::ttcore::addPipelineDescription(StringRef name, StringRef help,
                                        std::function<std::vector<OptionDescription>()> options) {
  Registry &pipelines = registry();
  std::lock_guard lock(pipelines.mutex);
  pipelines.entries[name.str()] = {{name.str(), help.str(), {}}, std::move(options)};
}

const PipelineDescription *tt::ttcore::describePipeline(StringRef name) {
  Registry &pipelines = registry();
  std::lock_guard lock(pipelines.mutex);
  auto found = pipelines.entries.find(name.str());
  if (found == pipelines.entries.end())
    return nullptr;
  Entry &entry = found->second;
  if (entry.options) {
    entry.description.options = entry.options();
    llvm::sort(entry.description.options, [](const auto &a, const auto &b) { return a.name < b.name; });
    entry.options = nullptr;
  }
  return &entry.description;
}

std::vector<std::string> tt::ttcore::pipelineNames() {
  Registry &pipelines = registry();
  std::lock_guard lock(pipelines.mutex);
  std::vector<std::string> names;
  for (const auto &entry : pipelines.entries)
    names.push_back(entry.first);
  return names;
}

std::string tt::ttcore::checkPipelineOption(StringRef pipeline, StringRef name, std::string &value) {
  const PipelineDescription *description = describePipeline(pipeline);
  if (!description) {
    const std::vector<std::string> names = pipelineNames();
    const StringRef near = nearestName(pipeline, llvm::to_vector_of<StringRef>(names));
    return "there is no pipeline '" + pipeline.str() + "'" +
           (near.empty() ? "" : "; did you mean '" + near.str() + "'?");
  }
  SmallVector<StringRef> known;
  for (const OptionDescription &option : description->options) {
    if (option.name == name)
      return option.check(value);
    known.push_back(option.name);
  }
  std::string message = "no option '" + name.str() + "' in " + pipeline.str(), owners;
  for (const std::string &other : pipelineNames())
    if (llvm::any_of(describePipeline(other)->options, [&](const auto &option) { return option.name == name; }))
      owners += (owners.empty() ? "" : ", ") + other;
  if (!owners.empty())
    return message + "; it is an option of " + owners;
  if (StringRef near = nearestName(name, known); !near.empty())
    message += "; did you mean '" + near.str() + "'?";
  else if (known.empty())
    message += ", which has none";
  return message;
}
