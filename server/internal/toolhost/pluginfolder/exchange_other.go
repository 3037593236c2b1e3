//go:build !linux

package pluginfolder

func exchange(a, b string) error { return exchangeInSteps(a, b) }
