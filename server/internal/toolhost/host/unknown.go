package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// unknownTool returns the error for a name that no tool has. The error lists existing tools, so
// that a model or a person can correct the name. It does not name tools of hidden plugins, and
// nothing that the caller may not use: the text about such a tool is the text about a name that no
// tool ever had.
func unknownTool(snapshot *catalog.Snapshot, name string, hidden func(plugin string) bool, may permission) *tool.Error {
	if snapshot.SwitchedOff(name) && may.use(name) {
		return tool.Errorf(tool.KindUnavailable, "the tool %q is %s", name, operator.ReasonDisabled)
	}
	if now := snapshot.Renamed(name); now != "" && may.use(now) {
		return tool.Errorf(tool.KindNotFound, "there is no tool %q here; the configuration renamed it to %q", name, now)
	}
	if owner := snapshot.UnusableOwner(name); owner != nil && !hidden(owner.Info.Name) && may.use(name) {
		return tool.Errorf(tool.KindUnavailable, "the tool %q is out of service: %s", name, brokenPlugin(owner))
	}
	const most = 20
	var names []string
	for _, t := range snapshot.Tools(tool.Query{}) {
		if !hidden(t.Plugin.Info.Name) && may.use(t.Spec.Name) {
			names = append(names, t.Spec.Name)
		}
	}
	hint := "no tool is known; `toolhost plugins` shows what was found, and why"
	switch {
	case len(names) > most:
		hint = nearest.Question(name, names) + "`toolhost tools` lists those that there are"
	case len(names) > 0:
		hint = nearest.Question(name, names) + "there are: " + strings.Join(names, ", ")
	}
	if slices.ContainsFunc(snapshot.Plugins(), (*catalog.Plugin).Pending) {
		hint += "; new plugins are still being asked for their tools: try again soon"
	}
	if p := snapshot.Faulty(); p != nil {
		return tool.Errorf(tool.KindUnavailable, "the tool %q is not known, but the plugin %q could not be read: %s; %s", result.Clip(name, 80), p.Info.Name, p.Fault, hint)
	}
	return tool.Errorf(tool.KindNotFound, "there is no tool %q; %s", result.Clip(name, 80), hint)
}

// brokenPlugin says that a plugin cannot be used, for callers: only operators see paths.
func brokenPlugin(p *catalog.Plugin) string {
	if p.Fault != "" {
		return fmt.Sprintf("its plugin %q cannot be used now: %s", p.Info.Name, p.Fault)
	}
	return fmt.Sprintf("its plugin %q cannot be used; `toolhost why %s` shows the reason", p.Info.Name, p.Info.Name)
}
