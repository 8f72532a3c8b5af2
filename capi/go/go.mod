module billcore.example/go

go 1.23
