// Package cgo stops the build with an explanation when cgo is off.
package cgo
