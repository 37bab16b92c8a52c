// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace proteus::cost {

/// A measured curve: linear in log2 of the abscissa between its points, constant beyond them.
class LogTable {
 public:
  LogTable() = default;

  /// Throws std::invalid_argument unless `x` is positive and ascending and as long as `y`.
  LogTable(const std::vector<double>& x, std::vector<double> y) : y_(std::move(y)) {
    if (x.empty() || x.size() != y_.size()) throw std::invalid_argument("a table needs as many ordinates as abscissae");
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] <= 0 || (i > 0 && x[i] <= x[i - 1])) throw std::invalid_argument("abscissae must ascend from above 0");
      log_x_.push_back(std::log2(x[i]));
    }
  }

  double at(double x) const {
    if (x <= 0) return y_.front();
    const double log_x = std::log2(x);
    if (log_x <= log_x_.front()) return y_.front();
    if (log_x >= log_x_.back()) return y_.back();
    const auto above = std::upper_bound(log_x_.begin(), log_x_.end(), log_x);
    const auto i = static_cast<std::size_t>(above - log_x_.begin());
    const double share = (log_x - log_x_[i - 1]) / (log_x_[i] - log_x_[i - 1]);
    return y_[i - 1] + share * (y_[i] - y_[i - 1]);
  }

  double first_x() const { return std::exp2(log_x_.front()); }

 private:
  std::vector<double> log_x_;
  std::vector<double> y_;
};

}  // namespace proteus::cost
