//go:build cgo && !billcore_system && linux && amd64 && !musl

package native

import _ "billcore.example/go/lib/linux-amd64"
