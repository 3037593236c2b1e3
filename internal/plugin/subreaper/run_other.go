//go:build !linux

package subreaper

import (
	"context"
	"errors"
)

// Supported reports whether there are keepers on this system.
func Supported() bool { return false }

// Run returns an error.
func Run(context.Context, Config) (int, error) {
	return 0, errors.New("there are no keepers on this system")
}
