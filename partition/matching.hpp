// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace proteus::partition {

/// Where not everybody can have a choice of his own: the members of the first crowd, ascending, who together have fewer
/// choices than there are of them (Hall 1935: there is such a crowd or all can be served). Empty where all can.
std::vector<std::size_t> crowd_of(const std::vector<std::vector<int>>& choices);

}  // namespace proteus::partition
