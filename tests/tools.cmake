# Tests that are scripts: each needs Python 3 and nothing else unless it says so.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# forkpoint_script_test(NAME SCRIPT ARGUMENTS...): a script of this folder, from the source tree.
function(forkpoint_script_test name script)
    add_test(NAME tools/${name}
             COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${ARGN})
    set_tests_properties(tools/${name} PROPERTIES LABELS tools TIMEOUT 120)
endfunction()

forkpoint_script_test(boundaries check_boundaries.py)
forkpoint_script_test(boundaries-self-test check_boundaries.py --self-test)
forkpoint_script_test(text check_text.py)
forkpoint_script_test(text-self-test check_text.py --self-test)

# What the command line's own check says: vectors and parity, without a test framework.
add_test(NAME tools/selftest COMMAND forkpoint-cli selftest)
set_tests_properties(tools/selftest PROPERTIES LABELS tools TIMEOUT 300)
include(gpu/tools.cmake)
include(app/tools.cmake)
