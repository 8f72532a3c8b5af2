module rest

go 1.19
