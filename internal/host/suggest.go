package host

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/nearest"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// unknownTool says why there is no tool of the name, or which there are instead, so that a model or a person can go on.
// Tools of plugins that are switched off are no such: hidden says of a plugin whether it is.
func unknownTool(snapshot *catalog.Snapshot, name string, hidden func(plugin string) bool) *tool.Error {
	if snapshot.SwitchedOff(name) {
		return tool.Errorf(tool.KindUnavailable, "the tool %q is %s", name, reasonSwitchedOff)
	}
	if now := snapshot.Renamed(name); now != "" {
		return tool.Errorf(tool.KindNotFound, "there is no tool %q here; the configuration renamed it to %q", name, now)
	}
	const most = 20
	var names []string
	for _, t := range snapshot.Tools(tool.Query{}) {
		if !hidden(t.Plugin.Info.Name) {
			names = append(names, t.Spec.Name)
		}
	}
	hint := "no tool is known; `toolhost plugins` shows what was found, and why"
	switch {
	case len(names) > most:
		hint = didYouMean(names, name) + "`toolhost tools` lists those that there are"
	case len(names) > 0:
		hint = didYouMean(names, name) + "there are: " + strings.Join(names, ", ")
	}
	if slices.ContainsFunc(snapshot.Plugins(), (*catalog.Plugin).Pending) {
		hint += "; new plugins are still being asked for their tools: try again soon"
	}
	return tool.Errorf(tool.KindNotFound, "there is no tool %q; %s", clip(name, 80), hint)
}

func unknownPlugin(snapshot *catalog.Snapshot, name string) *tool.Error {
	var names []string
	for _, p := range snapshot.Plugins() {
		if p.Info.Name == name {
			return tool.Errorf(tool.KindUnavailable, "the plugin %q cannot be used: %s", name, p.Problem)
		}
		names = append(names, p.Info.Name)
	}
	hint := "no plugin was found"
	if len(names) > 0 {
		hint = didYouMean(names, name) + "there are: " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return tool.Errorf(tool.KindNotFound, "there is no plugin %q; %s", clip(name, 80), hint)
}

// didYouMean returns a question that names what resembles a wanted name, with a space behind it, or "". The names must be such
// as the caller may see.
func didYouMean(names []string, want string) string {
	const most = 3
	near := nearest.Names(want, names, most)
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	if len(near) == 0 {
		return ""
	}
	last := len(near) - 1
	if last == 0 {
		return "did you mean " + near[0] + "? "
	}
	return "did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "? "
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
