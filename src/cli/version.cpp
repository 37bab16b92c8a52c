// SPDX-License-Identifier: Apache-2.0
#include "proteus/version.hpp"

#include <hdf5.h>
#include <hwloc.h>
#include <mpi.h>
#include <boost/version.hpp>

#include <sstream>

#include "command.hpp"

namespace proteus::cli {

std::string version_text() {
  std::ostringstream text;
  text << "Proteus " << version << " (" << git_revision << ")\n";
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(mpi, &length);  // legal before MPI_Init
  text << "compiler " << compiler << "\n"
       << "MPI " << std::string(mpi).substr(0, std::string(mpi).find(',')) << "\n"
       << "HDF5 " << H5_VERS_MAJOR << "." << H5_VERS_MINOR << "." << H5_VERS_RELEASE << "\n"
       << "Boost " << BOOST_VERSION / 100000 << "." << BOOST_VERSION / 100 % 1000 << "." << BOOST_VERSION % 100 << "\n"
       << "hwloc " << (HWLOC_API_VERSION >> 16) << "." << ((HWLOC_API_VERSION >> 8) & 0xff) << "."
       << (HWLOC_API_VERSION & 0xff) << "\n";
  return text.str();
}

}  // namespace proteus::cli
