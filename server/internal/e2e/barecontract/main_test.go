//go:build more

package barecontract

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// patience bounds every wait, so that a hang fails a test instead of blocking it.
const patience = 2 * time.Minute

// playPlugin is the argument that makes the test binary serve the Go plugin.
const playPlugin = "plugin"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playPlugin {
		servePlugin()
		return
	}
	os.Exit(m.Run())
}

// The plugins in all three languages behave the same.
func TestPlugins(t *testing.T) {
	dir := t.TempDir()
	toolhost := sync.OnceValues(func() (string, error) { return buildToolhost(t.Context(), dir) })
	for _, language := range []struct {
		name    string
		prepare func(t *testing.T) program
	}{
		{"go", prepareGo},
		{"python", preparePython},
		{"node", prepareNode},
	} {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel() // the processes mostly start or wait
			p := language.prepare(t)
			t.Run("by hand", func(t *testing.T) { testByHand(t, p) })
			t.Run("life", func(t *testing.T) { testLife(t, p) })
			t.Run("wire", func(t *testing.T) { testWire(t, p) })
			t.Run("host", func(t *testing.T) {
				binary, err := toolhost()
				if err != nil {
					t.Fatal(err)
				}
				testHost(t, binary, p)
			})
			t.Run("verify", func(t *testing.T) {
				binary, err := toolhost()
				if err != nil {
					t.Fatal(err)
				}
				testVerify(t, binary, p)
			})
		})
	}
}

func buildToolhost(ctx context.Context, dir string) (string, error) {
	if err := programs.Build(ctx, dir, "./cmd/toolhost"); err != nil {
		return "", err
	}
	return filepath.Join(dir, "toolhost"), nil
}

// root returns the path of the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
