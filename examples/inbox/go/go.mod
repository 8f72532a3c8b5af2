module receiver

go 1.23

require (
	billcore.example/go v0.1.0
	github.com/lib/pq v1.12.3
)
