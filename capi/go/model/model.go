// Package model has the types that packages billcore and webhook share: resources, events and errors. Both packages
// have aliases of these types.
package model

import "billcore.example/go/internal/model"

// Version is the version of the C library that this program was compiled with, such as "0.1.0".
const Version = model.Version

// ParseUnverified parses the bytes that Raw returned for an event that was verified earlier and then stored, for
// example in a job queue. ParseUnverified checks no signature and no age, so use it only for storage that the
// receiver alone can write to.
func ParseUnverified(raw []byte) (*Event, error) { return model.ParseUnverified(raw) }
