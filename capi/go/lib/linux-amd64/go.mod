module billcore.example/go/lib/linux-amd64

go 1.23
