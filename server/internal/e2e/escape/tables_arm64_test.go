//go:build linux

package escape_test

import "testing"

// otherTables are attempts with system calls of other tables. A 64-bit program can make none here.
func otherTables() []attempt { return nil }

func (h *toolhost) testOtherTables(t *testing.T) {
	t.Log("most machines of this architecture run no programs of 32 bits")
}
