# How tests run under MPI on a small shared machine, as root or not, and never longer than their limit.
set(PROTEUS_MPI_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=hash)

# proteus_mpi_test(NAME SOURCE RANKS LIBRARIES...): a GoogleTest program with its own main, on each number in RANKS.
function(proteus_mpi_test name source ranks_list)
  add_executable(mpi_${name} ${source})
  target_link_libraries(mpi_${name} PRIVATE ${ARGN} GTest::gmock GTest::gtest proteus_options)
  foreach(ranks ${ranks_list})
    add_test(NAME mpi.${name}.${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:mpi_${name}>)
    set_tests_properties(mpi.${name}.${ranks} PROPERTIES TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${PROTEUS_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# proteus_cli_test(NAME TIMEOUT COMMAND...): a script that gets the program as $PROTEUS and runs in its own empty folder.
function(proteus_cli_test name timeout)
  set(folder ${CMAKE_BINARY_DIR}/cli/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${folder})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} PROCESSORS 2 SKIP_RETURN_CODE 77 ENVIRONMENT
    "PROTEUS=$<TARGET_FILE:proteus>;SOURCE=${PROJECT_SOURCE_DIR};PROTEUS_CATALOG=${PROJECT_SOURCE_DIR}/catalog;${PROTEUS_MPI_ENVIRONMENT}")
endfunction()
