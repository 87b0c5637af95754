# Tests that are scripts: each needs Python 3 and nothing else unless it says so.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# forkpoint_script_test(NAME SCRIPT ARGUMENTS...): a script of this folder, from the source tree.
function(forkpoint_script_test name script)
    add_test(NAME tools/${name}
             COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${ARGN})
    set_tests_properties(tools/${name} PROPERTIES LABELS tools TIMEOUT 120
        ENVIRONMENT "XDG_CACHE_HOME=${FORKPOINT_TEST_CACHE}")
endfunction()

forkpoint_script_test(boundaries check_boundaries.py)
forkpoint_script_test(boundaries-self-test check_boundaries.py --self-test)
forkpoint_script_test(text check_text.py)
forkpoint_script_test(text-self-test check_text.py --self-test)

# What the command line's own check says: vectors and parity, without a test framework.
add_test(NAME tools/selftest COMMAND forkpoint-cli selftest)
set_tests_properties(tools/selftest PROPERTIES LABELS tools TIMEOUT 300)
# The command line over storage that fails, as the C library would tell it.
add_library(fault_shim MODULE faults/fault_shim.cpp)
forkpoint_target(fault_shim)
target_link_libraries(fault_shim PRIVATE ${CMAKE_DL_LIBS})
# It runs before a sanitizer has begun.
target_compile_options(fault_shim PRIVATE -fno-sanitize=all)
target_link_options(fault_shim PRIVATE -fno-sanitize=all)
forkpoint_script_test(faults faults/check_faults.py $<TARGET_FILE:forkpoint-cli>
                      $<TARGET_FILE:fault_shim> ${CMAKE_CURRENT_SOURCE_DIR}/data)

# What is printed by hand: rates and ratios, see HACKING.md. Not built with the rest.
foreach(bench bench_kernels bench_cuda bench_records)
    add_executable(${bench} EXCLUDE_FROM_ALL bench/${bench}.cpp)
    forkpoint_target(${bench})
    forkpoint_kernel_flags(${bench})
    target_link_libraries(${bench} PRIVATE fp_compute)
endforeach()
target_link_libraries(bench_records PRIVATE fp_app_core)
include(gpu/tools.cmake)
include(app/tools.cmake)
include(capture/tools.cmake)
