# The fingerprint oracle: an independent reading of resources/docs/fingerprint.md. Skipped where the
# interpreter has no xxhash module (Debian: python3-xxhash).
find_program(FORKPOINT_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT FORKPOINT_SYSTEM_PYTHON)
    set(FORKPOINT_SYSTEM_PYTHON "${Python3_EXECUTABLE}")
endif()
add_test(NAME gpu/fingerprint_oracle
    COMMAND "${FORKPOINT_SYSTEM_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/gpu/fingerprint_oracle.py"
            "${FORKPOINT_TEST_DATA}/stats/fingerprints.json")
set_tests_properties(gpu/fingerprint_oracle PROPERTIES LABELS gpu SKIP_RETURN_CODE 77)

# The reference program, where its header is there (Debian: libxxhash-dev).
find_path(XXHASH_INCLUDE_DIR xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
if(XXHASH_INCLUDE_DIR AND XXHASH_LIBRARY AND TARGET tst_digest)
    target_compile_definitions(tst_digest PRIVATE FORKPOINT_HAVE_XXHASH)
    target_include_directories(tst_digest PRIVATE "${XXHASH_INCLUDE_DIR}")
    target_link_libraries(tst_digest PRIVATE "${XXHASH_LIBRARY}")
endif()
