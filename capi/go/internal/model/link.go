//go:build !billcore_system

package model

// #cgo CFLAGS: -I${SRCDIR}/../include
import "C"
