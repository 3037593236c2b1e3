//go:build !linux

package proc

// Descends is not known here.
func Descends(int, int) (bool, error) { return false, ErrUnknown }

// HasMark is not known here.
func HasMark(int, string) bool { return false }

// Cgroups is not known here.
func Cgroups(int) (string, error) { return "", ErrUnknown }

// IsGone is not known here.
func IsGone(error) bool { return false }
