package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary run as the sandboxed process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
