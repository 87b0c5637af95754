# The module that records a run, and what it writes against resources/docs/trace.md. Skipped, as CTest says, where the
# interpreter lacks a module (Debian: python3-h5py, python3-numpy, python3-xxhash; torch from PyPI).
set(FORKPOINT_CAPTURE_PYTHON "${FORKPOINT_SYSTEM_PYTHON}" CACHE FILEPATH
    "Python of the tests of forkpoint_capture: one that has torch runs them all")
foreach(check check_capture check_capture_torch)
    add_test(NAME tools/${check} COMMAND "${FORKPOINT_CAPTURE_PYTHON}" -B
             "${CMAKE_CURRENT_SOURCE_DIR}/capture/${check}.py")
    set_tests_properties(tools/${check} PROPERTIES LABELS tools TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()
if(TARGET forkpoint-h5worker)
    add_test(NAME tools/check_leaves COMMAND "${FORKPOINT_CAPTURE_PYTHON}" -B
             "${CMAKE_CURRENT_SOURCE_DIR}/capture/check_leaves.py" $<TARGET_FILE:forkpoint-cli>)
    set_tests_properties(tools/check_leaves PROPERTIES LABELS tools TIMEOUT 300 SKIP_RETURN_CODE 77
        ENVIRONMENT "XDG_CACHE_HOME=${FORKPOINT_TEST_CACHE}")
endif()
