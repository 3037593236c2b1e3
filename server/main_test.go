package server_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the repository's root, because they read the sources of all modules.
// They are in this module, because they also use the programs' packages.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
