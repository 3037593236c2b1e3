//go:build !linux

package main

import "os"

// flushInput does nothing: what was typed ahead is kept.
func flushInput(*os.File) {}
