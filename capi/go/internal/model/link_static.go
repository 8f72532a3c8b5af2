//go:build billcore_system && billcore_static

package model

// #cgo pkg-config: billcore-webhook-static
import "C"
