# forkpoint_embed(TARGET NAME FILE): compiles a text file into TARGET as
# `extern const std::string_view NAME` of namespace forkpoint::resources.

function(forkpoint_embed target name file)
    get_filename_component(source "${file}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(READ "${source}" text)
    string(LENGTH "${text}" length)
    if(length GREATER 60000)
        message(FATAL_ERROR "${file} is too long for a string literal")
    endif()
    set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp")
    file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"// made from ${file}
#include <string_view>
namespace forkpoint::resources {
extern const std::string_view ${name};
const std::string_view ${name} = R\"~~~(@text@)~~~\";
}
")
    target_sources(${target} PRIVATE "${generated}")
endfunction()
