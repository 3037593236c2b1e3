package operate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// SandboxSummary returns the mode of a sandbox, and the mechanisms that are not effective.
func SandboxSummary(s *tool.Sandbox) string {
	if s == nil {
		return "-"
	}
	var missing []string
	for _, w := range s.Layers {
		if !w.Effective {
			missing = append(missing, w.Name)
		}
	}
	text := s.Mode
	if s.WorkspaceBackend != "" && s.WorkspaceBackend != tool.LocalWorkspace {
		text += ", workspace " + workspaceText(s.Workspace, s.WorkspaceBackend)
	}
	if len(missing) > 0 {
		text += ", without " + strings.Join(missing, ", ")
	}
	return text
}

// workspaceText returns the access to a workspace, and where the workspace is unless it is a folder
// of toolhost's machine.
func workspaceText(access tool.Access, backend string) string {
	text := cmp.Or(string(access), string(tool.AccessNone))
	if backend != "" && backend != tool.LocalWorkspace {
		text += " (" + cli.OneLine(backend) + ")"
	}
	return text
}

// sandboxDetails returns what a process may access, and each sandbox mechanism with its state.
func sandboxDetails(s *tool.Sandbox) string {
	if s == nil {
		return "-"
	}
	if len(s.Layers) == 0 {
		return s.Mode
	}
	var walls []string
	for _, w := range s.Layers {
		means := cmp.Or(w.Mechanism, "not effective")
		if w.Note != "" {
			means += ": " + w.Note
		}
		walls = append(walls, fmt.Sprintf("%s (%s)", w.Name, means))
	}
	return s.Mode + "; " + strings.Join(append(grantsOf(s), walls...), ", ")
}

// grantsOf returns the grants of a process.
func grantsOf(s *tool.Sandbox) []string {
	grants := []string{"workspace " + workspaceText(s.Workspace, s.WorkspaceBackend)}
	if s.Network {
		grants = append(grants, "network")
	}
	for _, path := range s.Read {
		grants = append(grants, "reads "+path)
	}
	for _, path := range s.Write {
		grants = append(grants, "writes "+path)
	}
	return grants
}

// writeRequests writes the grants that a plugin asks for and does not have, with the keys of
// toolhost.yaml that grant them.
func (w *explanation) writeRequests(b *strings.Builder) {
	if len(w.plugin.Ungranted) == 0 {
		return
	}
	b.WriteString("\nasked for and not granted\n")
	for _, u := range w.plugin.Ungranted {
		fmt.Fprintf(b, "  %s; in toolhost.yaml: %s\n", u.Request, u.Grant)
	}
}

// ungrantedRequests returns, in few words, the grants that a plugin asks for and does not have.
func ungrantedRequests(all []tool.Ungranted) string {
	var requests []string
	for _, u := range all {
		requests = append(requests, u.Request)
	}
	return "asks for " + strings.Join(requests, ", ") + ", which is not granted"
}
