# One libFuzzer program per fuzz_*.cpp, and the target `fuzz` for all of them. The preset gives the flags that
# every library needs; only the programs link the fuzzer itself. Run one with
#   build/fuzz/tests/fuzz_zip -max_total_time=600 -timeout=10 -rss_limit_mb=1024 CORPUS
add_custom_target(fuzz)
file(GLOB sources CONFIGURE_DEPENDS fuzz/fuzz_*.cpp)
if(NOT TARGET fp_hdf5_metadata)
    list(FILTER sources EXCLUDE REGEX "fuzz_hdf5_metadata") # of the worker, which is not built
endif()
foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    forkpoint_target(${name})
    target_link_libraries(${name} PRIVATE fp_loaders)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzz ${name})
endforeach()
if(TARGET fp_hdf5_metadata)
    target_sources(fuzz_hdf5_metadata PRIVATE support/parent_memory.cpp)
    target_link_libraries(fuzz_hdf5_metadata PRIVATE fp_hdf5_metadata)
endif()
