package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Before the first installation, the error names the folder of installed plugins and the next
// commands. After it, toolhost serves that folder.
func TestDefaultFolder(t *testing.T) {
	data := t.TempDir()
	o := Options{getenv: func(name string) string { return map[string]string{"XDG_DATA_HOME": data}[name] }}
	folder := filepath.Join(data, "toolhost", "plugins")
	err := o.addDefaultFolders(false)
	for _, want := range []string{folder, "toolhost install PATH", "toolhost new NAME", "toolhost serve --plugins DIR"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q: %v", want, err)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := o.addDefaultFolders(false); err != nil || len(o.Folders) != 1 || o.Folders[0] != folder {
		t.Errorf("the folders are %q: %v", o.Folders, err)
	}
}

// The error names the shipped plugins where a release and `make build` put them.
func TestShippedPlugins(t *testing.T) {
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	if got := shippedBeside(bin); got != "" {
		t.Errorf("an empty folder has the shipped plugins %s", got)
	}
	for _, folder := range []string{filepath.Join(bin, "plugins"), filepath.Join(root, "libexec", cli.Toolhost, "plugins")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if got := shippedBeside(bin); got != folder {
			t.Errorf("the shipped plugins are in %q, want %s", got, folder)
		}
	}
	if err := noPlugins("/f", "/a b"); !strings.Contains(err.Error(), "toolhost serve --plugins '/a b'") {
		t.Errorf("the command cannot be typed: %v", err)
	}
}
