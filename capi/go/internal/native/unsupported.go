//go:build cgo && !billcore_system && !(linux && (amd64 || arm64))

package native

var _ struct{} = "billcore has its C library for linux/amd64 and linux/arm64 only: install it here, and build with -tags billcore_system"
