module billcore/tests/foreign/bettertls

go 1.23.0

require github.com/Netflix/bettertls v0.0.0-20250909192348-e1e99e353074

require github.com/google/uuid v1.3.0 // indirect
