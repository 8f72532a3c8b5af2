//go:build !cgo

package native

var _ struct{} = "billcore needs cgo: build with CGO_ENABLED=1 and a C compiler for the target"
