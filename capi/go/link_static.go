//go:build billcore_system && billcore_static

package billcore

// #cgo pkg-config: billcore-static
import "C"
