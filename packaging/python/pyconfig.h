/* pyconfig.h - what CPython's headers ask of a system, for the systems that wheels are made for.
 *
 * A real pyconfig.h describes the machine on which CPython was built. scripts/wheels.py compiles
 * for other machines, and against the stable ABI alone. That needs the sizes of C's types, which
 * the compiler knows, and a few headers, which all these systems have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define HAVE_STDDEF_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define STDC_HEADERS 1
#define WITH_THREAD 1
#define Py_ENABLE_SHARED 1

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL 1 /* exceptions and types are imported data */
#else
#define HAVE_PTHREAD_H 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#endif

#endif
