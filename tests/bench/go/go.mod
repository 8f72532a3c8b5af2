module bench

go 1.23

require billcore v0.0.0

replace billcore => ../../../capi/go
