# Everything comes from the system; nothing is downloaded.
find_package(MPI REQUIRED COMPONENTS CXX)

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL AND NOT HDF5_ENABLE_PARALLEL)
  message(FATAL_ERROR "HDF5 ${HDF5_VERSION} in ${HDF5_INCLUDE_DIRS} was built without MPI. "
                      "Set HDF5_ROOT to a parallel build (Debian: libhdf5-openmpi-dev).")
endif()
add_library(proteus_hdf5 INTERFACE)
target_link_libraries(proteus_hdf5 INTERFACE ${HDF5_C_LIBRARIES} MPI::MPI_CXX)
target_include_directories(proteus_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})

find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET GLOBAL hwloc>=2.1)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(METIS REQUIRED)
