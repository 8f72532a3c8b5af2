//go:build !billcore_static

package webhook

// #cgo pkg-config: billcore-webhook
import "C"
