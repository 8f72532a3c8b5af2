module billcore.example/go/lib/linux-amd64-musl

go 1.23
