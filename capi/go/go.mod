module billcore

go 1.23
