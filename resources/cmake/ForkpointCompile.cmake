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
