package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Ungranted returns the requests of a plugin that the operator has not granted, each with the line
// of toolhost.yaml that grants it. asked are the plugin's own requests, in addition to those of its
// tools. granted is the access of its sandbox. variables are the variables that the operator passes
// to it or sets for it.
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
		return all // without a sandbox, the plugin may do all that toolhost may do
	}
	add := func(request, key, value string) {
		all = append(all, tool.Ungranted{Request: request, Grant: fmt.Sprintf("plugin.%s.sandbox.%s: %s", p.Info.Name, key, value)})
	}
	if asked.Network && !granted.Network {
		add("the network", "network", "true")
	}
	if exceeds(asked.Workspace, granted.Workspace) {
		add(fmt.Sprintf("to %s in the workspace", asked.Workspace), "workspace", string(asked.Workspace))
	}
	if missing := uncovered(asked.Read, slices.Concat(granted.Read, granted.Write)); len(missing) > 0 {
		add("to read "+strings.Join(missing, ", "), "read", flowList(slices.Concat(granted.Read, missing)))
	}
	if missing := uncovered(asked.Write, granted.Write); len(missing) > 0 {
		add("to change "+strings.Join(missing, ", "), "write", flowList(slices.Concat(granted.Write, missing)))
	}
	for _, t := range p.Tools {
		if t.Spec.SandboxExempt {
			add(fmt.Sprintf("that its tool %s runs without a sandbox, which is granted to the whole plugin", t.Spec.Name), "mode", "off")
		}
	}
	return all
}

// exceeds reports whether an access is more than the granted one.
func exceeds(asked, granted tool.Access) bool {
	order := []tool.Access{tool.AccessNone, tool.AccessRead, tool.AccessWrite}
	return slices.Index(order, asked) > max(slices.Index(order, granted), 0)
}

// uncovered returns the paths that are neither granted nor inside a granted folder.
func uncovered(asked, granted []string) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(path string) bool {
		return slices.ContainsFunc(granted, func(folder string) bool {
			return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
		})
	})
}

// flowList returns a list in YAML, in one line.
func flowList(paths []string) string { return "[" + strings.Join(paths, ", ") + "]" }
