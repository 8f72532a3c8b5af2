//go:build !billcore_system

package billcore

// #cgo CFLAGS: -I${SRCDIR}/internal/include
import "C"
