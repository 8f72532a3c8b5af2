module ffi

go 1.23

require (
	bench v0.0.0
	billcore v0.0.0
	github.com/stripe/stripe-go/v82 v82.5.1
)

replace (
	bench => ../go
	billcore => ../../../capi/go
)
