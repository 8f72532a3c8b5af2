//go:build !cgo

package cgo

var _ struct{} = "billcore needs cgo: build with CGO_ENABLED=1 and a C compiler"
