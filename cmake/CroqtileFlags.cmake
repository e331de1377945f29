# Compiler flags of every target of the project, as one interface library: choreo_flags.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old: Croqtile needs g++ 12 or newer")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# Both build types optimise alike, because the tests execute kernels in the simulator.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_DEV "-O2" CACHE STRING "" FORCE)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Dev" FORCE)
endif()

# Most of a clean build is the parsing of standard headers. ccache does not store what was compiled with
# a precompiled header, and the dev preset goes without, so that each file is seen to include what it uses.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CROQTILE_PCH AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(choreo_flags INTERFACE)
target_compile_options(
  choreo_flags
  INTERFACE -Wall -Wextra $<$<BOOL:${CROQTILE_WERROR}>:-Werror>
            # Aggregates with default members are initialised by their leading ones.
            -Wno-missing-field-initializers
            # g++ 12 sees these through std::optional and inlined vectors where there are none.
            -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
            # Positions in CHECK messages are relative to the repository, wherever it was cloned.
            -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_definitions(choreo_flags INTERFACE CROQTILE_VERSION="${PROJECT_VERSION}")
target_include_directories(choreo_flags INTERFACE ${PROJECT_SOURCE_DIR}/compiler
                                                  ${PROJECT_BINARY_DIR}/generated)

if(CROQTILE_PCH)
  file(WRITE ${PROJECT_BINARY_DIR}/generated/pch.cpp "")
  add_library(choreo_pch OBJECT ${PROJECT_BINARY_DIR}/generated/pch.cpp)
  target_link_libraries(choreo_pch PUBLIC choreo_flags fmt::fmt)
  target_precompile_headers(
    choreo_pch PRIVATE <fmt/format.h> <algorithm> <cstdint> <functional> <map> <memory> <optional>
    <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
endif()
