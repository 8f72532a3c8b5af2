// Package native links billcore's C library, or stops the build with an explanation.
//
// By default a module of its own for each platform contains the C library as an archive. With the build tag musl, it is
// the archive for musl instead of glibc. With the build tag billcore_system, pkg-config names the libraries of the
// system, and the packages that call C state which of them they need.
package native

import (
	// The C headers. These imports make `go mod vendor` copy them.
	_ "billcore.example/go/internal/include"
	_ "billcore.example/go/internal/include/billcore"
)
