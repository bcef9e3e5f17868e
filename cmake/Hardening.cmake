# Compiler and linker flags of all programs, which make a memory error end the program instead of obeying an attacker:
# stack protector, checked calls of the C library, stack probes, marked targets of indirect jumps, and tables of the
# dynamic linker that cannot be written to. Not with sanitizers, which find such errors themselves and replace the same
# calls. tests/deploy/test_hardening.py reads them from the built program.
include(CheckCXXCompilerFlag)

if(NOT IOBENCH_SANITIZE)
  # Each of the last two exists on one kind of processor.
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "IOBENCH_HAS${flag}" has_flag)
    check_cxx_compiler_flag(${flag} ${has_flag})
    if(${has_flag})
      add_compile_options(${flag})
    endif()
  endforeach()
  # glibc warns where nothing is optimised; g++ before 12 and other compilers know only level 2.
  set(fortify_level 2)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(fortify_level 3)
  endif()
  if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" OR CMAKE_CXX_FLAGS MATCHES "-O[1-9sg]")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level})  # a distribution may have defined another
  endif()
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# -O0 for a target, without the checked calls that need optimisation.
set(IOBENCH_NOT_OPTIMIZED -O0 -U_FORTIFY_SOURCE)
