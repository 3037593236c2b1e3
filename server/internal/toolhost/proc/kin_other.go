//go:build !linux

package proc

// Descends returns ErrUnknown.
func Descends(int, int) (bool, error) { return false, ErrUnknown }

// HasMark returns false.
func HasMark(int, string) bool { return false }

// Cgroups returns ErrUnknown.
func Cgroups(int) (string, error) { return "", ErrUnknown }

// IsGone returns false.
func IsGone(error) bool { return false }
