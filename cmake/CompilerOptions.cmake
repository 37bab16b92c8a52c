# Flags that every target of the project is built with.
add_library(proteus_options INTERFACE)
target_compile_options(proteus_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # Same bits everywhere: no contraction into fused multiply-adds that one build has and another has not.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives on concatenated std::string at -O2 and above (GCC bug 105651).
  target_compile_options(proteus_options INTERFACE -Wno-restrict)
endif()
if(PROTEUS_WARNINGS_AS_ERRORS)
  target_compile_options(proteus_options INTERFACE -Werror)
endif()
