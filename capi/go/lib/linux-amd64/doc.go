// Package lib contains the C library of billcore for linux/amd64 and glibc. Programs import billcore.example/go, which
// links the library. capi/go/package.sh adds the library, libbillcore.a, to the module.
package lib
