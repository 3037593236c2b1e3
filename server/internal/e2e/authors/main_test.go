package authors

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// bin is the folder with toolhost and versionplugin.
var bin string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "authors-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	if err := programs.Build(context.Background(), dir, "./cmd/toolhost", "./internal/e2e/testplugins/versionplugin"); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
