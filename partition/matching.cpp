// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"

#include <map>
#include <set>

namespace proteus::partition {
namespace {

/// Serves one after the other along augmenting paths (Kuhn 1955).
class Matching {
 public:
  explicit Matching(const std::vector<std::vector<int>>& choices) : choices_(choices) {}

  /// Finds a choice for `who`, moving others. Where there is none, everybody that `who` would have to displace, and
  /// `who`, share choices of which there are too few.
  bool serve(std::size_t who, std::set<std::size_t>& crowd) {
    crowd.insert(who);
    for (int choice : choices_[who]) {
      const auto taken = taken_by_.find(choice);
      if (taken != taken_by_.end() && (crowd.contains(taken->second) || !serve(taken->second, crowd))) continue;
      taken_by_[choice] = who;
      return true;
    }
    return false;
  }

 private:
  const std::vector<std::vector<int>>& choices_;
  std::map<int, std::size_t> taken_by_;
};

}  // namespace

std::vector<std::size_t> crowd_of(const std::vector<std::vector<int>>& choices) {
  Matching matching(choices);
  for (std::size_t who = 0; who < choices.size(); ++who) {
    std::set<std::size_t> crowd;
    if (!matching.serve(who, crowd)) return {crowd.begin(), crowd.end()};
  }
  return {};
}

}  // namespace proteus::partition
