package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// ungranted returns what a plugin asks for and the operator has not granted, each with the line that grants it.
func (h *Host) ungranted(p *catalog.Plugin, asked tool.Permissions) []tool.Ungranted {
	var variables []string
	if h.cfg.Variables != nil {
		variables = h.cfg.Variables(p.Info.Name)
	}
	return Ungranted(p, asked, h.cfg.Sandbox(p.Info.Name), variables)
}

// Ungranted returns what a plugin asks for, besides what its tools ask, and was not granted, each with the line of
// toolhost.yaml that grants it.
//
// granted is what its sandbox opens, and variables are those that the operator passes to it or sets for it.
func Ungranted(p *catalog.Plugin, asked tool.Permissions, granted tool.Sandbox, variables []string) []tool.Ungranted {
	var all []tool.Ungranted
	for _, name := range p.Variables() {
		if !slices.Contains(variables, name) {
			all = append(all, tool.Ungranted{
				Request: "the variable " + name + " of toolhost's environment", Grant: fmt.Sprintf("plugin.%s.pass_env: [%s]", p.Info.Name, name),
			})
		}
	}
	if granted.Mode == "" || granted.Mode == "off" {
		return all // it may touch all that toolhost may
	}
	add := func(request, key, value string) {
		all = append(all, tool.Ungranted{Request: request, Grant: fmt.Sprintf("plugin.%s.sandbox.%s: %s", p.Info.Name, key, value)})
	}
	if asked.Network && !granted.Network {
		add("the network", "network", "true")
	}
	if more(asked.Workspace, granted.Workspace) {
		add(fmt.Sprintf("to %s in the workspace", asked.Workspace), "workspace", string(asked.Workspace))
	}
	if missing := uncovered(asked.Read, slices.Concat(granted.Read, granted.Write)); len(missing) > 0 {
		add("to read "+strings.Join(missing, ", "), "read", inLine(slices.Concat(granted.Read, missing)))
	}
	if missing := uncovered(asked.Write, granted.Write); len(missing) > 0 {
		add("to change "+strings.Join(missing, ", "), "write", inLine(slices.Concat(granted.Write, missing)))
	}
	for _, t := range p.Tools {
		if t.Spec.SandboxExempt {
			add(fmt.Sprintf("that its tool %s runs without a sandbox, which is granted to the whole plugin", t.Spec.Name), "mode", "off")
		}
	}
	return all
}

// more reports whether more is asked for than is granted.
func more(asked, granted tool.Access) bool {
	order := []tool.Access{tool.AccessNone, tool.AccessRead, tool.AccessWrite}
	return slices.Index(order, asked) > max(slices.Index(order, granted), 0)
}

// uncovered returns the paths that are neither granted nor in a folder that is.
func uncovered(asked, granted []string) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(path string) bool {
		return slices.ContainsFunc(granted, func(folder string) bool {
			return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
		})
	})
}

// inLine returns a list as toolhost.yaml has it in one line.
func inLine(paths []string) string { return "[" + strings.Join(paths, ", ") + "]" }
