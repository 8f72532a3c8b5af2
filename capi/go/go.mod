module billcore.example/go

go 1.23

require (
	billcore.example/go/lib/linux-amd64 v0.1.0
	billcore.example/go/lib/linux-amd64-musl v0.1.0
	billcore.example/go/lib/linux-arm64 v0.1.0
	billcore.example/go/lib/linux-arm64-musl v0.1.0
)
