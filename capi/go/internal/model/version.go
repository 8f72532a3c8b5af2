package model

// #include <billcore/webhook.h>
import "C"

import "strings"

// Version is the version of the C library that this program was compiled with, such as "0.1.0".
const Version = C.BILLCORE_VERSION

// loadError is not nil when the C library found at run time has another major or minor version than Version.
var loadError = check(C.GoString(C.billcore_version()))

// check returns an error if the major or the minor version of found is not that of Version. A patch release never
// changes the interface; before 1.0 a minor release may change it.
func check(found string) error {
	if series(found) == series(Version) {
		return nil
	}
	return NewError(ErrConfig, "the C library found is billcore %s, and this program was compiled with %s: "+
		"install one of them, and look at LD_LIBRARY_PATH", found, Version)
}

func series(version string) string {
	if last := strings.LastIndexByte(version, '.'); last > 0 {
		return version[:last]
	}
	return version
}
