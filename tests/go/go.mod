module billcoretests

go 1.23

require billcore.example/go v0.1.0
