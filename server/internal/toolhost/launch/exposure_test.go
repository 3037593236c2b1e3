package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// A process exposes what another plugin executes if its sandbox lets it write there. A process in
// its place, whose sandbox knows the plugin, does not.
func TestExposures(t *testing.T) {
	root := withoutLinks(t.TempDir())
	at := func(path string) string { return filepath.Join(root, path) }
	if err := os.MkdirAll(at("ws/dist"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"ws/latest": "dist", "elsewhere": "ws", "source": "ws/dist/file"} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	g := Places{Writable: []string{at("ws")}}
	alpha := &catalog.Plugin{Info: tool.Description{Name: "alpha"}, Path: at("plugins/alpha"), Outside: []string{at("ws/dist/main")}}
	indirect := &catalog.Plugin{Info: tool.Description{Name: "alpha"}, Path: at("plugins/alpha"), Outside: []string{at("elsewhere/latest/main")}}
	linked := &catalog.Plugin{Info: tool.Description{Name: "alpha"}, Source: at("source"), Path: at("store/alpha")}
	write := func(mode sandbox.Mode, access tool.Access, write ...string) sandbox.Config {
		return sandbox.Config{Mode: mode, Workspace: at("ws"), WorkspaceAccess: access, Write: write}
	}
	kept := write(sandbox.ModeOn, tool.AccessWrite)
	kept.Protected = g.executed([]*catalog.Plugin{alpha})
	own := write(sandbox.ModeOn, tool.AccessWrite)
	own.Workspace = "" // of a tenant
	for name, test := range map[string]struct {
		by      string
		sandbox sandbox.Config
		of      *catalog.Plugin
		want    bool
	}{
		"it may write the workspace":        {"shell", write(sandbox.ModeOn, tool.AccessWrite), alpha, true},
		"it may write it by another name":   {"shell", write(sandbox.ModeOn, tool.AccessNone, at("elsewhere")), alpha, true},
		"links lead there":                  {"shell", write(sandbox.ModeOn, tool.AccessWrite), indirect, true},
		"the source is a link":              {"shell", write(sandbox.ModeOn, tool.AccessWrite), linked, true},
		"a workspace that is not known yet": {"shell", own, alpha, true},
		"it may only read the workspace":    {"shell", write(sandbox.ModeOn, tool.AccessRead), alpha, false},
		"it may write elsewhere":            {"shell", write(sandbox.ModeOn, tool.AccessRead, at("other")), alpha, false},
		"its sandbox knows the plugin":      {"shell", kept, alpha, false},
		"a link that it does not know":      {"shell", kept, indirect, true},
		"it is of the plugin":               {"alpha", write(sandbox.ModeOn, tool.AccessWrite), alpha, false},
		"it has no sandbox":                 {"shell", write(sandbox.ModeOff, tool.AccessWrite), alpha, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Launcher{}
			one := l.running.enter(&catalog.Plugin{Info: tool.Description{Name: test.by}}, test.by+"-1")
			one.confine(test.sandbox)
			if got := l.exposures(g, test.of); len(got) > 0 != test.want {
				t.Errorf("%+v", got)
			}
			l.running.leave(one)
			if got := l.exposures(g, test.of); len(got) > 0 {
				t.Errorf("after its end: %+v", got)
			}
		})
	}
}
