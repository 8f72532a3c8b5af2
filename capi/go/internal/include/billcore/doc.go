// Package include is the folder for C headers of billcore: capi/go/package.sh adds them to the module.
package include
