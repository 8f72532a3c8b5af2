//go:build !billcore_system

package webhook

// #cgo CFLAGS: -I${SRCDIR}/../internal/include
import "C"
