# The libraries of the system that Turnstile stands on, as Turnstile::pcre2, Turnstile::yajl and Turnstile::xxhash.
# A program that links Turnstile's static library needs them too, so this file is installed beside the package.
#
# SPDX-License-Identifier: Apache-2.0
include(FindPackageHandleStandardArgs)
set(_turnstile_needed)
foreach(_part "pcre2;pcre2.h;pcre2-8" "yajl;yajl/yajl_tree.h;yajl" "xxhash;xxhash.h;xxhash")
  list(GET _part 0 _name)
  list(GET _part 1 _header)
  list(GET _part 2 _library)
  find_path(TURNSTILE_${_name}_INCLUDE ${_header})
  find_library(TURNSTILE_${_name}_LIBRARY ${_library})
  mark_as_advanced(TURNSTILE_${_name}_INCLUDE TURNSTILE_${_name}_LIBRARY)
  list(APPEND _turnstile_needed TURNSTILE_${_name}_LIBRARY TURNSTILE_${_name}_INCLUDE)
  if(TURNSTILE_${_name}_LIBRARY AND NOT TARGET Turnstile::${_name})
    add_library(Turnstile::${_name} UNKNOWN IMPORTED)
    set_target_properties(Turnstile::${_name} PROPERTIES
      IMPORTED_LOCATION "${TURNSTILE_${_name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TURNSTILE_${_name}_INCLUDE}")
  endif()
endforeach()
find_package_handle_standard_args(TurnstileDependencies REQUIRED_VARS ${_turnstile_needed})
