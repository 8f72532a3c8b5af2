module receiver

go 1.23

require (
	billcore v0.0.0
	github.com/lib/pq v1.12.3
)

replace billcore => ../../../capi/go
