# SPDX-License-Identifier: Apache-2.0

# JM_COMPILER_FLAGS: the warnings this compiler knows, in JM_WARNINGS; hardening, in JM_HARDENING and JM_LDFLAGS.
AC_DEFUN([JM_TRY_CFLAG], [
  AC_MSG_CHECKING([whether $CC takes $1])
  jm_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes]); $2="$$2 $1"], [AC_MSG_RESULT([no])])
  CFLAGS=$jm_saved_CFLAGS
])
AC_DEFUN([JM_COMPILER_FLAGS], [
  JM_WARNINGS=
  m4_foreach_w([jm_flag], [-Wall -Wextra -Wshadow -Wvla -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
    -Wwrite-strings -Wundef -Wformat=2 -Wno-overlength-strings], [JM_TRY_CFLAG(jm_flag, [JM_WARNINGS])])
  JM_HARDENING=
  m4_foreach_w([jm_flag], [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
    [JM_TRY_CFLAG(jm_flag, [JM_HARDENING])])
  AC_SUBST([JM_WARNINGS])
  AC_SUBST([JM_HARDENING])
])

# JM_VERSION_SCRIPT: does the linker take one?
AC_DEFUN([JM_VERSION_SCRIPT], [
  AC_CACHE_CHECK([for linker version scripts], [jm_cv_version_script], [
    printf 'T_0 { global: main; local: *; };\n' > conftest.map
    jm_saved_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [jm_cv_version_script=yes], [jm_cv_version_script=no])
    LDFLAGS=$jm_saved_LDFLAGS
    rm -f conftest.map
  ])
  AM_CONDITIONAL([VERSION_SCRIPT], [test "x$jm_cv_version_script" = xyes])
])
