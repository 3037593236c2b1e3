package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// A file that tools may have written is not the operator's, also after a move of its folder.
func TestAFormerWorkspaceIsKnownAtItsNewPath(t *testing.T) {
	w := newWorld(t)
	w.write(t, "ws/a.yaml", "x")
	must(t, w.store.AddWritable(w.workspace))
	moved := filepath.Join(w.dir, "moved")
	must(t, os.Rename(w.workspace, moved))
	refused(t, w.check(t, filepath.Join(moved, "a.yaml"), true), "could write earlier", moved)

	must(t, os.Mkdir(w.workspace, 0o700)) // another folder at the path of the first
	must(t, w.store.AddWritable(w.workspace))
	refused(t, w.check(t, filepath.Join(moved, "a.yaml"), true), "could write earlier", moved)
	must(t, w.check(t, w.write(t, "etc/a.yaml", "x"), true))

	// The plugins of a moved folder are new, too.
	plugin := w.write(t, "moved/plugin", "p")
	must(t, w.store.Begin([]string{moved}, map[string]string{plugin: "sha256:p"}))
	if records := w.plugins(t, moved); records.Source(plugin) != nil {
		t.Error("a plugin in a former workspace is trusted")
	}
}

// If a plugin folder was removed and created again, and tools may write around it, only the
// recorded digests stay trusted.
func TestAPluginFolderThatWasMadeAgain(t *testing.T) {
	for name, writable := range map[string]bool{"in a workspace": true, "elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			folder := filepath.Join(w.workspace, "plugins")
			must(t, os.Mkdir(folder, 0o700))
			path := w.write(t, "ws/plugins/p", "one")
			digests := map[string]string{path: "sha256:one"}
			must(t, w.store.Begin([]string{folder}, digests))
			if writable {
				must(t, w.store.AddWritable(w.workspace))
			}
			must(t, w.store.Begin([]string{folder}, digests))
			if why := w.plugins(t, folder).Source(path).Refuses("sha256:two", false); why != "" {
				t.Errorf("an upgrade in the same folder is refused: %s", why)
			}
			must(t, os.Rename(folder, folder+".old"))
			must(t, os.Mkdir(folder, 0o700))
			w.write(t, "ws/plugins/p", "two")
			must(t, w.store.Begin([]string{folder}, digests))
			record := w.plugins(t, folder).Source(path)
			if why := record.Refuses("sha256:one", false); why != "" {
				t.Errorf("the digest that was trusted is refused: %s", why)
			}
			if why := record.Refuses("sha256:two", false); strings.Contains(why, "made again") != writable {
				t.Errorf("another digest is refused with %q", why)
			}
			must(t, w.store.TrustPlugin([]string{folder}, path, trust.Description{Digest: "sha256:one", Name: "p"}, true))
			if why := w.plugins(t, folder).Source(path).Refuses("sha256:two", false); (why != "") != writable {
				t.Errorf("after the plugin said what it is, another digest is refused with %q", why)
			}
			must(t, w.store.TrustPlugin([]string{folder}, path, trust.Description{Digest: "sha256:two", Name: "p"}, false))
			if why := w.plugins(t, folder).Source(path).Refuses("sha256:three", false); why != "" {
				t.Errorf("after the operator trusted it, an upgrade is refused: %s", why)
			}
		})
	}
}

// If a plugin's file has a second name (a hard link), which may be in a workspace, only its digest
// is trusted.
func TestAPluginWithAnotherName(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "etc/p", "one")
	must(t, os.Link(path, filepath.Join(w.workspace, "p")))
	folder := filepath.Dir(path)
	must(t, w.store.Begin([]string{folder}, map[string]string{path: "sha256:one"}))
	if w.plugins(t, folder).Source(path) != nil {
		t.Error("it is trusted with its folder")
	}
	must(t, w.store.TrustPlugin([]string{folder}, path, trust.Description{Digest: "sha256:one", Name: "p"}, false))
	must(t, os.Remove(filepath.Join(w.workspace, "p"))) // after the tool wrote through it
	record := w.plugins(t, folder).Source(path)
	if why := record.Refuses("sha256:two", trust.HasOtherNames(path)); !strings.Contains(why, "hard link") {
		t.Errorf("what a tool wrote is refused with %q", why)
	}
	must(t, w.store.TrustPlugin([]string{folder}, path, trust.Description{Digest: "sha256:two", Name: "p"}, false))
	record = w.plugins(t, folder).Source(path)
	if why := record.Refuses("sha256:three", false); why != "" {
		t.Errorf("without the link, an upgrade is refused: %s", why)
	}
	if why := record.Refuses("sha256:three", true); !strings.Contains(why, "hard link") {
		t.Errorf("with a later link, an upgrade is refused with %q", why)
	}
}

func (w *world) plugins(t *testing.T, folder string) *trust.Plugins {
	t.Helper()
	records, err := w.store.Plugins([]string{folder})
	must(t, err)
	return records
}
