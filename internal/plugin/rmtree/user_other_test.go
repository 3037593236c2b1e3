//go:build !linux

package rmtree_test

import "testing"

// unprivileged calls f with a folder. Whom file modes do not bind sees less tested.
func unprivileged(t *testing.T, f func(folder string)) { f(t.TempDir()) }
