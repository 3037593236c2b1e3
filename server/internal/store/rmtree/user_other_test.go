//go:build !linux

package rmtree_test

import "testing"

// unprivileged calls f with a folder. As root, the test covers less here.
func unprivileged(t *testing.T, f func(folder string)) { f(t.TempDir()) }
