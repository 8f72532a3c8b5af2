module billcore.example/go/lib/linux-arm64-musl

go 1.23
