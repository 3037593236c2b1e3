//go:build !linux

package pgtest

import "syscall"

// endWithParent does nothing: only Linux has a parent-death signal. A server outlives a killed test
// here.
func endWithParent(*syscall.SysProcAttr) {}
