//go:build !linux

package postgrestest

import "syscall"

// endWithParent does nothing: only Linux has a parent-death signal. A server outlives a killed test
// here.
func endWithParent(*syscall.SysProcAttr) {}
