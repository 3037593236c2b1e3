package catalog_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// names records the name under which each plugin was asked.
type names struct {
	fakePlugins
	mu    sync.Mutex
	asked []string
}

func (n *names) describe(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
	n.mu.Lock()
	n.asked = append(n.asked, p.Info.Name)
	n.mu.Unlock()
	return n.fakePlugins.describe(ctx, p)
}

// last returns the name of the last question.
func (n *names) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.asked) == 0 {
		return ""
	}
	return n.asked[len(n.asked)-1]
}

// The catalog asks a plugin for its description under the name that it will have, as far as that is
// known. The plugin may not start without the settings of that name.
func TestAPluginIsAskedUnderTheNameThatItWillHave(t *testing.T) {
	asked := &names{}
	dir := t.TempDir()
	cfg := catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: asked.describe, Retention: -1}
	write(t, dir, "file-1.bin", version("1", spec("a")), 0o755)
	c := load(t, cfg)
	if asked.last() != "file-1.bin" {
		t.Errorf("a new file was asked as %q, want its own name", asked.last())
	}
	write(t, dir, "file-1.bin", version("2", spec("a")), 0o755)
	reload(t, c)
	if asked.last() != "one" {
		t.Errorf("a changed file was asked as %q, want the name of what is in service in its place", asked.last())
	}
	c.Close()
	if err := os.RemoveAll(filepath.Join(cfg.StateDir, "store", strings.TrimPrefix(c.Snapshot().Plugin("one").Digest, "sha256:"), "files")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "file-1.bin", version("3", spec("a")), 0o755)
	c = load(t, cfg) // no revision that was in service can run any more; its description is still known
	if asked.last() != "one" {
		t.Errorf("after a restart a changed file was asked as %q, want the name of what was in its place", asked.last())
	}
	cfg.Locked, cfg.LockFile = true, filepath.Join(t.TempDir(), "toolhost.lock")
	if err := catalog.WriteLock(cfg.LockFile, c.Snapshot()); err != nil {
		t.Fatal(err)
	}
	c.Close()
	cfg.StateDir = stateDir(t)
	load(t, cfg)
	if diff := cmp.Diff([]string{"file-1.bin", "one", "one", "one"}, asked.asked); diff != "" {
		t.Errorf("asked as, the last by what the lock file says (-want +got):\n%s", diff)
	}
}

func reload(t *testing.T, c *catalog.Catalog) *catalog.Snapshot {
	t.Helper()
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return settled(t, c)
}
