//go:build !linux

package subreaper

import (
	"context"
	"errors"
)

// Supported reports whether the system has subreapers.
func Supported() bool { return false }

// Run returns an error.
func Run(context.Context, Config) (int, error) {
	return 0, errors.New("this system has no subreapers")
}

// Serve calls serve.
func Serve(_ func(pid int) bool, serve func() error) error { return serve() }
