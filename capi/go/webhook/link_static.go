//go:build billcore_system && billcore_static

package webhook

// #cgo pkg-config: billcore-webhook-static
import "C"
