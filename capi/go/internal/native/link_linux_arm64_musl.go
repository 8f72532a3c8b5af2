//go:build cgo && !billcore_system && linux && arm64 && musl

package native

import _ "billcore.example/go/lib/linux-arm64-musl"
