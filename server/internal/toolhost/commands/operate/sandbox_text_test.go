package operate

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

func TestSandboxInWords(t *testing.T) {
	s := &tool.Sandbox{
		Mode: "required", Network: true, Workspace: tool.AccessWrite, Read: []string{"/r"}, Write: []string{"/w"},
		Layers: []tool.SandboxLayer{{Name: "files", Effective: true, Mechanism: "mount namespace"}, {Name: "ipc", Note: "why"}, {Name: "pid", Effective: true, Mechanism: "m", Note: "but"}},
	}
	layers := []tool.SandboxLayer{{Name: "files", Effective: true, Mechanism: "m"}}
	far := &tool.Sandbox{Mode: "on", Workspace: tool.AccessRead, WorkspaceBackend: "remote", Layers: layers}
	here := &tool.Sandbox{Mode: "on", Workspace: tool.AccessRead, WorkspaceBackend: tool.LocalWorkspace, Layers: layers}
	for got, want := range map[string]string{
		SandboxSummary(nil):                              "-",
		SandboxSummary(&tool.Sandbox{Mode: "off"}):       "off",
		SandboxSummary(s):                                "required, without ipc",
		SandboxSummary(far):                              "on, workspace read (remote)",
		SandboxSummary(here):                             "on",
		sandboxDetails(far):                              "on; workspace read (remote), files (m)",
		sandboxDetails(here):                             "on; workspace read, files (m)",
		sandboxDetails(nil) + " ":                        "- ",
		sandboxDetails(&tool.Sandbox{Mode: "off"}) + " ": "off ",
		sandboxDetails(s):                                "required; workspace write, network, reads /r, writes /w, files (mount namespace), ipc (not effective: why), pid (m: but)",
		ungrantedRequests([]tool.Ungranted{{Request: "the network"}, {Request: "to read /x"}}): "asks for the network, to read /x, which is not granted",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var b strings.Builder
	(&explanation{plugin: tool.PluginInfo{Ungranted: []tool.Ungranted{{Request: "the network", Grant: "plugin.p.sandbox.network: true"}}}}).writeRequests(&b)
	if want := "\nasked for and not granted\n  the network; in toolhost.yaml: plugin.p.sandbox.network: true\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// Callers and authors see what calls of one plugin share.
func TestIsolationIsShown(t *testing.T) {
	w := &explanation{plugin: tool.PluginInfo{Name: "p", Isolation: "shared"}}
	if text := w.text(); !strings.Contains(text, "isolation   shared: calls of all callers and sessions can meet in one process") {
		t.Errorf("why says\n%s", text)
	}
}
