package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// digestOf returns a digest of equal letters.
func digestOf(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// `lock` pins a refused plugin at the digest of its file, any other plugin at the digest that is in
// service, and a broken plugin not at all.
func TestWhatIsPinned(t *testing.T) {
	lockedOut := func(letter, name string) *tool.PluginRefusal {
		return &tool.PluginRefusal{Digest: digestOf(letter), Reason: "kept out", Locked: true, Name: name}
	}
	plugins := []tool.PluginInfo{
		{Name: "changed", Path: "/p/changed", Version: "1", Digest: digestOf("a"), State: tool.PluginEnabled, Refusal: lockedOut("b", "")},
		{Name: "held", Path: "/p/held", Version: "1", Digest: digestOf("c"), State: tool.PluginPaused,
			Refusal: &tool.PluginRefusal{Digest: digestOf("d"), Reason: "it does not start"}},
		{Name: "broken", Path: "/p/broken", Digest: digestOf("e"), State: tool.PluginUnusable, Reason: "it does not start"},
		{Name: "off", Path: "/p/off", Version: "1", Digest: digestOf("f"), State: tool.PluginDisabled, Reason: "switched off"},
		{Name: "new", Path: "/p/new", Digest: digestOf("1"), State: tool.PluginUnusable, Refusal: lockedOut("1", "")},
		{Name: "a file.exe", Path: "/p/a file.exe", Digest: digestOf("2"), State: tool.PluginUnusable, Refusal: lockedOut("2", "")},
		{Name: "held", Path: "/q/held", Digest: digestOf("3"), State: tool.PluginUnusable, Refusal: lockedOut("3", "")},
		{Name: "held", Path: "/q/other", Digest: digestOf("4"), State: tool.PluginUnusable, Refusal: lockedOut("4", "held")},
	}
	before := manifest.Lock{
		"changed": {Version: "1", Digest: digestOf("a")}, "off": {Version: "0", Digest: digestOf("f")}, "gone": {Digest: digestOf("9")},
	}
	for _, test := range []struct {
		name  string
		names []string
		want  map[string]string
		fails string
	}{
		{name: "all", want: map[string]string{
			"changed": "b", "held": "c", "off": "f", "new": "1", "new-222222222222": "2", "new-333333333333": "3",
		}},
		{name: "one", names: []string{"changed"}, want: map[string]string{"changed": "b", "off": "f", "gone": "9"}},
		{name: "one that is new", names: []string{"a file.exe"}, want: map[string]string{
			"changed": "a", "off": "f", "gone": "9", "new-222222222222": "2",
		}},
		{name: "none of that name", names: []string{"absent"}, fails: `there is no plugin "absent"`},
		{name: "a broken one", names: []string{"new", "broken"}, fails: "it does not start"},
	} {
		p := pinning{before: before}
		err := p.choose(plugins, test.names)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: %v, want %q", test.name, err, test.fails)
			}
			continue
		}
		want := map[string]string{}
		for name, letter := range test.want {
			want[name] = digestOf(letter)
		}
		got := map[string]string{}
		for name, pin := range p.lock {
			got[name] = pin.Digest
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

// `lock` replaces a file that is not a lock file only if the operator names it.
func TestLockSparesWhatIsNoLockFile(t *testing.T) {
	home := t.TempDir()
	p := pinning{file: filepath.Join(t.TempDir(), "notes"), getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	if err := p.read(false); err != nil || len(p.before) > 0 {
		t.Errorf("where no file is: %v, %v", p.before, err)
	}
	if err := os.WriteFile(p.file, []byte("dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.read(false); err == nil || !strings.Contains(err.Error(), "it stays unchanged") {
		t.Errorf("reading what is no lock file: %v", err)
	}
	if err := p.read(true); err != nil {
		t.Errorf("writing over a file that was named: %v", err)
	}
}

// The error names --plugins if a folder cannot be read, and the lock file if that cannot be read.
func TestWhatCannotBeLoadedSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		config     catalog.Config
		want, less string
	}{
		{catalog.Config{Folders: []string{dir}, Locked: true, LockFile: filepath.Join(dir, "none")}, "`toolhost lock` writes it", "--plugins"},
		{catalog.Config{Folders: []string{filepath.Join(dir, "none")}}, "--plugins", "toolhost lock"},
	} {
		tc.config.StateDir = t.TempDir()
		tc.config.Describe = func(context.Context, *catalog.Plugin) (tool.Description, error) { return tool.Description{}, nil }
		known, err := catalog.Open(tc.config)
		if err != nil {
			t.Fatal(err)
		}
		err = serve.LoadPlugins(t.Context(), known, tc.config.Folders, 0)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), tc.less) {
			t.Errorf("%v, want %q in it, and not %q", err, tc.want, tc.less)
		}
		if err := known.Close(); err != nil {
			t.Error(err)
		}
	}
}
