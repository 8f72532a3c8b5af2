module billcore.example/go/lib/linux-arm64

go 1.23
