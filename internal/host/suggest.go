package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/catalog"
	nearnames "github.com/toolhost/toolhost/internal/nearest"
	"github.com/toolhost/toolhost/tool"
)

// unknownTool says why there is no tool of the name, or which there are instead, so that a model or a person can go on.
func unknownTool(snapshot *catalog.Snapshot, name string) *tool.Error {
	if snapshot.SwitchedOff(name) {
		return tool.Errorf(tool.KindUnavailable, "the tool %q is %s", name, reasonSwitchedOff)
	}
	if now := snapshot.Renamed(name); now != "" {
		return tool.Errorf(tool.KindNotFound, "there is no tool %q here; the configuration renamed it to %q", name, now)
	}
	const most = 20
	var names []string
	for _, t := range snapshot.Tools(tool.Query{}) {
		names = append(names, t.Spec.Name)
	}
	hint := "no tool is known; `toolhost plugins` shows what was found, and why"
	switch {
	case len(names) > most:
		hint = "`toolhost tools` lists those that there are"
		if near := nearest(names, name); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
	case len(names) > 0:
		hint = "there are: " + strings.Join(names, ", ")
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
		hint = "there are: " + strings.Join(names[:min(len(names), 20)], ", ")
		if near := nearnames.Names(clip(name, 80), names, 1); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q? %s", near[0], hint)
		}
	}
	return tool.Errorf(tool.KindNotFound, "there is no plugin %q; %s", clip(name, 80), hint)
}

// nearest returns the name that shares the longest beginning with the wanted one, if that is more than half of it.
func nearest(names []string, want string) string {
	best, shared := "", len(want)/2
	for _, name := range names {
		n := 0
		for n < len(name) && n < len(want) && name[n] == want[n] {
			n++
		}
		if n > shared {
			best, shared = name, n
		}
	}
	return best
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
