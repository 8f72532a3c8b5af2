//go:build cgo

package lib

/*
#cgo LDFLAGS: ${SRCDIR}/libbillcore.a -lpthread -ldl -lm
#include <features.h>
#if !defined(__GLIBC__)
#error "this C compiler is for musl: build with -tags musl"
#elif !__has_include("libbillcore.a")
#error "this copy of billcore has no library for linux/arm64 and glibc: install it, and build with -tags billcore_system"
#endif
*/
import "C"
