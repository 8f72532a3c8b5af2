package model

// #include <billcore/webhook.h>
import "C"

import "strings"

// Version is that of the C library this program was compiled with, such as "0.1.0".
const Version = C.BILLCORE_VERSION

// loadError: see bridge.LoadError.
var loadError = check(C.GoString(C.billcore_version()))

// check compares major and minor: patches do not change the interface, and before 1.0 minors may.
func check(found string) error {
	if series(found) == series(Version) {
		return nil
	}
	return newError(ErrConfig, "the C library found is billcore %s, and this program was compiled with %s: "+
		"install one of them, and look at LD_LIBRARY_PATH", found, Version)
}

func series(version string) string {
	if last := strings.LastIndexByte(version, '.'); last > 0 {
		return version[:last]
	}
	return version
}
