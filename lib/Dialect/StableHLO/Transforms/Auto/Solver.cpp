//===- Solver.cpp - the cheapest choice for many variables ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Solver.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

using namespace mlir::tt::shlo::autosharding;
using llvm::ArrayRef;
using llvm::SmallVector;

double Network::costOf(ArrayRef<unsigned> choice) const {
  double sum = 0;
  for (size_t variable = 0; variable < costs.size(); ++variable)
    sum += costs[variable][choice[variable]];
  for (const Pair &pair : pairs)
    sum += (*pair.costs)[choice[pair.first] * costs[pair.second].size() + choice[pair.second]];
  return sum;
}

namespace {
/// The costs of all choices of some variables, in ascending order, the last one fastest.
struct Table {
  SmallVector<unsigned, 6> variables;
  std::vector<double> costs;
};

class Elimination {
public:
  /// `fixed` has the choice of a variable, or -1.
  Elimination(const Network &network, ArrayRef<int64_t> fixed, size_t largestTable)
      : network(network), fixed(fixed), largestTable(largestTable), tablesOf(network.costs.size()),
        neighbours(network.costs.size()) {
    for (size_t variable = 0; variable < network.costs.size(); ++variable)
      if (fixed[variable] < 0)
        add({{static_cast<unsigned>(variable)}, network.costs[variable]});
    for (const Network::Pair &pair : network.pairs)
      add(pair);
  }

  /// None if a table would be too large; `widest` is then a variable in it.
  std::optional<std::vector<unsigned>> run(unsigned &widest) {
    std::set<std::pair<double, unsigned>> queue;
    std::vector<double> keys(network.costs.size());
    auto enqueue = [&](unsigned variable) {
      double size = static_cast<double>(domain(variable));
      for (unsigned other : neighbours[variable])
        size *= static_cast<double>(domain(other));
      keys[variable] = size;
      queue.emplace(size, variable);
    };
    for (unsigned variable = 0; variable < keys.size(); ++variable)
      if (fixed[variable] < 0)
        enqueue(variable);
    while (!queue.empty()) {
      auto [size, variable] = *queue.begin();
      queue.erase(queue.begin());
      if (size > static_cast<double>(largestTable)) {
        widest = variable;
        for (auto [other, key] : llvm::enumerate(keys))
          if (fixed[other] < 0 && !isGone(other) && neighbours[other].size() > neighbours[widest].size())
            widest = other;
        return std::nullopt;
      }
      std::set<unsigned> around = neighbours[variable];
      for (unsigned other : around)
        queue.erase({keys[other], other});
      eliminate(variable);
      for (unsigned other : around)
        enqueue(other);
    }
    std::vector<unsigned> choice(network.costs.size());
    for (auto [variable, value] : llvm::enumerate(fixed))
      if (value >= 0)
        choice[variable] = static_cast<unsigned>(value);
    for (const Step &step : llvm::reverse(steps)) {
      size_t index = 0;
      for (unsigned other : step.around)
        index = index * domain(other) + choice[other];
      choice[step.variable] = step.best[index];
    }
    return choice;
  }

private:
  struct Step {
    unsigned variable;
    SmallVector<unsigned, 6> around;
    std::vector<uint16_t> best; // by the choices of those around
  };

  size_t domain(unsigned variable) const { return network.costs[variable].size(); }
  bool isGone(unsigned variable) const { return tablesOf[variable].empty(); }

  void add(const Network::Pair &pair) {
    bool hasFirst = fixed[pair.first] < 0, hasSecond = fixed[pair.second] < 0;
    size_t columns = domain(pair.second);
    if (hasFirst && hasSecond && pair.first < pair.second)
      return add({{pair.first, pair.second}, *pair.costs});
    Table table;
    if (hasFirst && hasSecond) {
      table.variables = {pair.second, pair.first};
      for (size_t column = 0; column < columns; ++column)
        for (size_t row = 0; row < domain(pair.first); ++row)
          table.costs.push_back((*pair.costs)[row * columns + column]);
    } else if (hasFirst) {
      table.variables = {pair.first};
      for (size_t row = 0; row < domain(pair.first); ++row)
        table.costs.push_back((*pair.costs)[row * columns + fixed[pair.second]]);
    } else if (hasSecond) {
      table.variables = {pair.second};
      auto row = pair.costs->begin() + static_cast<int64_t>(fixed[pair.first] * columns);
      table.costs.assign(row, row + static_cast<int64_t>(columns));
    } else {
      return;
    }
    add(std::move(table));
  }

  void add(Table table) {
    for (unsigned variable : table.variables) {
      tablesOf[variable].push_back(tables.size());
      for (unsigned other : table.variables)
        if (other != variable)
          neighbours[variable].insert(other);
    }
    tables.push_back(std::move(table));
  }

  void eliminate(unsigned variable) {
    SmallVector<unsigned, 6> around(neighbours[variable].begin(), neighbours[variable].end());
    size_t choices = domain(variable), size = 1;
    for (unsigned other : around)
      size *= domain(other);

    // How far one step of a variable moves in the table that is read.
    struct Reader {
      const double *at;
      size_t own;
      SmallVector<size_t, 6> strides;
    };
    SmallVector<Reader> readers;
    std::vector<size_t> used = tablesOf[variable];
    for (size_t number : used) {
      const Table &table = tables[number];
      Reader reader = {table.costs.data(), 0, SmallVector<size_t, 6>(around.size(), 0)};
      size_t stride = 1;
      for (unsigned other : llvm::reverse(table.variables)) {
        if (other == variable)
          reader.own = stride;
        else
          reader.strides[llvm::find(around, other) - around.begin()] = stride;
        stride *= domain(other);
      }
      readers.push_back(std::move(reader));
    }

    Table table = {around, std::vector<double>(size)};
    Step step = {variable, around, std::vector<uint16_t>(size)};
    SmallVector<size_t, 6> digits(around.size(), 0);
    std::vector<double> sums(choices);
    for (size_t index = 0; index < size; ++index) {
      std::fill(sums.begin(), sums.end(), 0);
      for (const Reader &reader : readers)
        for (size_t choice = 0; choice < choices; ++choice)
          sums[choice] += reader.at[choice * reader.own];
      auto best = std::min_element(sums.begin(), sums.end());
      table.costs[index] = *best;
      step.best[index] = static_cast<uint16_t>(best - sums.begin());
      for (size_t place = around.size(); place-- > 0;) {
        bool wraps = ++digits[place] == domain(around[place]);
        for (Reader &reader : readers)
          reader.at += wraps ? -static_cast<int64_t>(reader.strides[place] * (digits[place] - 1))
                             : static_cast<int64_t>(reader.strides[place]);
        if (!wraps)
          break;
        digits[place] = 0;
      }
    }
    steps.push_back(std::move(step));

    for (size_t number : used) {
      for (unsigned other : tables[number].variables)
        llvm::erase(tablesOf[other], number);
      tables[number] = {};
    }
    for (unsigned other : around)
      neighbours[other].erase(variable);
    neighbours[variable].clear();
    if (!around.empty())
      add(std::move(table));
  }

  const Network &network;
  ArrayRef<int64_t> fixed;
  size_t largestTable;
  std::vector<Table> tables;
  std::vector<std::vector<size_t>> tablesOf;
  std::vector<std::set<unsigned>> neighbours;
  std::vector<Step> steps;
};
} // namespace

Solution mlir::tt::shlo::autosharding::solve(const Network &network, ArrayRef<unsigned> start, size_t largestTable) {
  std::vector<int64_t> fixed(network.costs.size(), -1);
  SmallVector<unsigned> chosenFirst;
  std::optional<std::vector<unsigned>> choice;
  while (true) {
    unsigned widest = 0;
    choice = Elimination(network, fixed, largestTable).run(widest);
    if (choice)
      break;
    fixed[widest] = start[widest];
    chosenFirst.push_back(widest);
  }
  Solution solution = {*choice, network.costOf(*choice), chosenFirst.empty()};
  // Terminates: each further iteration reduces the cost by more than rounding.
  for (bool improves = !chosenFirst.empty(); improves;) {
    std::vector<unsigned> next = solution.choice;
    for (unsigned variable : chosenFirst) {
      std::vector<double> costs = network.costs[variable];
      for (const Network::Pair &pair : network.pairs) {
        size_t columns = network.costs[pair.second].size();
        for (size_t value = 0; value < costs.size(); ++value)
          if (pair.first == variable)
            costs[value] += (*pair.costs)[value * columns + next[pair.second]];
          else if (pair.second == variable)
            costs[value] += (*pair.costs)[next[pair.first] * columns + value];
      }
      next[variable] = static_cast<unsigned>(std::min_element(costs.begin(), costs.end()) - costs.begin());
      fixed[variable] = next[variable];
    }
    unsigned widest = 0;
    std::optional<std::vector<unsigned>> improved = Elimination(network, fixed, largestTable).run(widest);
    double cost = improved ? network.costOf(*improved) : std::numeric_limits<double>::infinity();
    improves = cost < solution.cost * (1 - 1e-9);
    if (improves)
      solution.choice = *improved, solution.cost = cost;
  }
  return solution;
}
