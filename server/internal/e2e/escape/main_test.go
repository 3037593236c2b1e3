//go:build linux && (amd64 || arm64)

package escape_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// bin is the folder with the binaries under test: toolhost, the escapeplugin, fs and shell. All
// users can read it.
var bin string

// patience bounds every wait, so that a hang fails the test.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "confine" {
		fmt.Fprintln(os.Stderr, confine(os.Args[2:]))
		os.Exit(1)
	}
	dir, err := build()
	bin = dir
	code := 1
	if err == nil {
		code = m.Run()
		if err = goleak.Find(); err != nil && code == 0 {
			code = 1
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "escape-bin-")
	if err != nil {
		return "", err
	}
	if err := programs.Build(context.Background(), dir, "./cmd/toolhost", "./plugins/fs", "./plugins/shell", "./internal/e2e/testplugins/escapeplugin"); err != nil {
		return dir, err
	}
	return dir, os.Chmod(dir, 0o755)
}
