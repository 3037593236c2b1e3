//go:build unix && !linux && !darwin

package proc

// StartTime returns ErrUnknown.
func StartTime(int) (uint64, error) { return 0, ErrUnknown }
