//go:build race

package billcoretests

const underRace = true
