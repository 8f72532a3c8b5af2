// Package cgo says what is missing where the packages of this module cannot be built.
package cgo
