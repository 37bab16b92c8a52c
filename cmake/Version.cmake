# proteus/version.hpp: what `proteus --version` prints. Regenerated when the revision changes.
find_package(Git QUIET)
add_library(proteus_version INTERFACE)
set(version_header ${PROJECT_BINARY_DIR}/generated/proteus/version.hpp)
add_custom_target(proteus_version_header
  COMMAND ${CMAKE_COMMAND} -DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/version.hpp.in -DOUTPUT=${version_header}
          -DSOURCE=${PROJECT_SOURCE_DIR} -DGIT=${GIT_EXECUTABLE} -DVERSION=${PROJECT_VERSION}
          -DCATALOG=${PROJECT_SOURCE_DIR}/catalog
          "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${version_header})
add_dependencies(proteus_version proteus_version_header)
target_include_directories(proteus_version INTERFACE ${PROJECT_BINARY_DIR}/generated)
