# Warnings of every target, and the floating-point contract of those that compile gpu/kernels.

function(forkpoint_target target)
    # -Wrestrict of g++ 12 cries wolf over "text" + std::string at -O2 and above (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
    endif()
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow>)
    if(FORKPOINT_WERROR)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
    endif()
endfunction()

# Same inputs, same bits: no contraction into FMA, no fast-math, whatever -march says.
function(forkpoint_kernel_flags target)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-fast-math>
        $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --ftz=false --prec-div=true --prec-sqrt=true>)
endfunction()

# Code for one generation runs on all of it; the newest is also there in a form that drivers translate
# for generations to come.
function(forkpoint_default_cuda_architectures result)
    set(list 75-real 80-real 90)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        set(list 75-real 80-real 90-real 100-real 120)
    endif()
    set(${result} "${list}" PARENT_SCOPE)
endfunction()

# What CMAKE_CUDA_ARCHITECTURES comes to: the capabilities that there is code for, as "75,80", and the
# oldest that can be translated from (0: none).
function(forkpoint_cuda_architectures real virtual)
    set(codes "")
    set(oldest 0)
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
        if(NOT architecture MATCHES "^([0-9]+)(-real|-virtual)?$")
            message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: expected numbers such as 90 or 90-real, "
                                "found '${architecture}'")
        endif()
        set(number "${CMAKE_MATCH_1}")
        if(NOT architecture MATCHES "-virtual$")
            list(APPEND codes "${number}")
        endif()
        if(NOT architecture MATCHES "-real$" AND (oldest EQUAL 0 OR number LESS oldest))
            set(oldest "${number}")
        endif()
    endforeach()
    list(JOIN codes "," codes)
    set(${real} "${codes}" PARENT_SCOPE)
    set(${virtual} "${oldest}" PARENT_SCOPE)
endfunction()
