//go:build !linux

package pgtest

import "syscall"

// endWithParent does nothing: only Linux has a signal at a parent's death. Without it, a server outlives a test that is
// killed.
func endWithParent(*syscall.SysProcAttr) {}
