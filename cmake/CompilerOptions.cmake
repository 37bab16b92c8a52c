# Flags that every target of the project is built with.
add_library(proteus_options INTERFACE)
target_compile_options(proteus_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference
  # Same bits everywhere: no contraction into fused multiply-adds that one build has and another has not.
  -ffp-contract=off)
if(PROTEUS_WARNINGS_AS_ERRORS)
  target_compile_options(proteus_options INTERFACE -Werror)
endif()
