package handle

import (
	"math"
	"time"
)

// Milliseconds returns a duration in whole milliseconds, rounded up, so that a positive duration never becomes 0.
func Milliseconds(given time.Duration) int64 {
	whole := int64(given / time.Millisecond)
	if given%time.Millisecond > 0 && whole < math.MaxInt64 {
		whole++
	}
	return whole
}
