// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <string>

namespace proteus::cli {
namespace {

/// How many threads are usable, those, and the bound ones.
std::vector<int> pack(const partition::RankPlace& place) {
  std::vector<int> numbers{static_cast<int>(place.usable.size())};
  for (const partition::HardwareThread& thread : place.usable) {
    numbers.insert(numbers.end(), {thread.number, thread.core, thread.numa_node});
  }
  numbers.insert(numbers.end(), place.bound.begin(), place.bound.end());
  return numbers;
}

void unpack(std::span<const int> numbers, partition::RankPlace& place) {
  const auto usable = static_cast<std::size_t>(numbers[0]);
  for (std::size_t i = 0; i < usable; ++i) {
    place.usable.push_back({numbers[1 + 3 * i], numbers[2 + 3 * i], numbers[3 + 3 * i]});
  }
  const auto bound = numbers.subspan(1 + 3 * usable);
  place.bound.assign(bound.begin(), bound.end());
}

}  // namespace

std::vector<partition::RankPlace> gather_places(const MpiSession& mpi) {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  if (!mpi.active()) {
    gethostname(name.data(), name.size() - 1);
    return {partition::current_place(0, name.data())};
  }
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  const std::vector<int> mine = pack(partition::current_place(mpi.rank(), name.data()));
  const auto size = static_cast<int>(mine.size());
  const auto ranks = static_cast<std::size_t>(mpi.rank() == 0 ? mpi.ranks() : 0);
  std::vector<char> names(ranks * name.size());
  std::vector<int> sizes(ranks);
  MPI_Gather(name.data(), static_cast<int>(name.size()), MPI_CHAR, names.data(), static_cast<int>(name.size()),
             MPI_CHAR, 0, mpi.communicator());
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, mpi.communicator());
  std::vector<int> offsets(ranks);
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), 0);
  std::vector<int> all(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0)));
  MPI_Gatherv(mine.data(), size, MPI_INT, all.data(), sizes.data(), offsets.data(), MPI_INT, 0, mpi.communicator());

  std::vector<partition::RankPlace> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places[rank].rank = static_cast<int>(rank);
    places[rank].host = names.data() + rank * name.size();
    unpack(std::span(all).subspan(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(sizes[rank])),
           places[rank]);
  }
  return places;
}

}  // namespace proteus::cli
