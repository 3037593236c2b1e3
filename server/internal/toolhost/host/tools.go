package host

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// defaultMatches is how many tools a search returns by default: as many as a model can compare.
const defaultMatches = 10

// toolList is the part of a Host that lists, searches, renders and finds tools.
type toolList struct {
	cfg         *Config
	generations *generations
	ctx         context.Context // ends when the host closes
	spawn       func(func()) bool
	plugins     *supervisor.Plugins
	search      searchIndex
	described   *descriptions
	revisions   revisions
}

// ListTools returns the tools that match, ordered by name. If it lists dynamic tools for a session,
// it waits up to some seconds for their plugins to describe them.
func (l *toolList) ListTools(ctx context.Context, q tool.Query) ([]tool.Info, error) {
	return l.ListPage(ctx, q, "")
}

// ListPage is ListTools for the tools whose names follow the name after. An empty name means all
// tools. It examines only the tools between that name and the last one that it returns.
func (l *toolList) ListPage(ctx context.Context, q tool.Query, after string) ([]tool.Info, error) {
	if err := ledger.CheckSession(q.Session); err != nil {
		return nil, err
	}
	var tools []*catalog.Tool
	settings, snapshot := l.generations.view(l.cfg.Catalog)
	may := permission{authz.FromContext(ctx), authz.ToolsList, q.Principal, q.Groups}
	for t := range snapshot.ToolsAfter(after, q) {
		if settings.Disabled(t.Plugin.Info.Name) || !may.use(t.Spec.Name) {
			continue
		}
		if tools = append(tools, t); len(tools) == q.MaxTools {
			break
		}
	}
	infos, info := make([]tool.Info, 0, len(tools)), settings.infos(q.Principal)
	for _, t := range l.seenBy(ctx, q.Viewer(), tools) {
		infos = append(infos, info(t))
	}
	return infos, nil
}

// SearchTools returns the tools that match and contain one of the words, the best match first. It
// includes tools that cannot be called now. q.MaxTools is 10 by default. Errors: invalid_argument.
func (l *toolList) SearchTools(ctx context.Context, words string, q tool.Query) ([]tool.Match, error) {
	if strings.TrimSpace(words) == "" {
		return nil, tool.Errorf(tool.KindInvalidArgument, "there are no words to search for; say in a few what the tool should do")
	}
	if err := checkCount(q); err != nil {
		return nil, err
	}
	if err := ledger.CheckSession(q.Session); err != nil {
		return nil, err
	}
	indexed := l.search.of(l.cfg.Catalog)
	keep, at := make([]bool, len(indexed.tools)), 0
	for _, t := range l.enabled(ctx, indexed.snapshot, q) {
		for indexed.tools[at] != t { // both lists are ordered by name
			at++
		}
		keep[at] = true
	}
	hits := indexed.words.Search(words, func(i int) bool { return keep[i] }, cmp.Or(q.MaxTools, defaultMatches))
	found := make([]*catalog.Tool, len(hits))
	for i, hit := range hits {
		found[i] = indexed.tools[hit.Tool]
	}
	matches, info := []tool.Match{}, l.generations.latest().infos(q.Principal)
	for i, t := range l.seenBy(ctx, q.Viewer(), found) {
		matches = append(matches, tool.Match{Info: info(t), Score: hits[i].Score})
	}
	return matches, nil
}

// RenderTools returns the tools that match in a format, ordered by name. Rendered.Omitted lists the
// tools that cannot be called now, or that the API of the format refuses, with the reasons. Errors:
// invalid_argument.
func (l *toolList) RenderTools(ctx context.Context, format tool.Format, q tool.Query) (tool.Rendered, error) {
	if err := checkCount(q); err != nil {
		return tool.Rendered{}, err
	}
	most := q.MaxTools
	q.MaxTools = 0 // a tool that cannot be called does not count
	infos, err := l.ListTools(ctx, q)
	if err != nil {
		return tool.Rendered{}, err
	}
	var omitted []tool.OmittedTool
	infos = slices.DeleteFunc(infos, func(i tool.Info) bool {
		if i.UnavailableReason != "" {
			omitted = append(omitted, tool.OmittedTool{Name: i.Spec.Name, Reason: "it cannot be called now: " + i.UnavailableReason})
		}
		return i.UnavailableReason != ""
	})
	if most > 0 {
		infos = infos[:min(most, len(infos))]
	}
	rendered, err := render.Tools(format, infos)
	if err != nil {
		return tool.Rendered{}, err
	}
	rendered.Omitted = append(rendered.Omitted, omitted...)
	slices.SortFunc(rendered.Omitted, func(a, b tool.OmittedTool) int { return strings.Compare(a.Name, b.Name) })
	return rendered, nil
}

// GetTool returns one tool. If the tool is unknown, GetTool waits until new plugins have described
// themselves. Errors: invalid_argument, not_found, unavailable.
func (l *toolList) GetTool(ctx context.Context, name string, v tool.Viewer) (tool.Info, error) {
	if err := ledger.CheckSession(v.Session); err != nil {
		return tool.Info{}, err
	}
	in, err := l.lookup(ctx, name, permission{authz.FromContext(ctx), authz.ToolsList, v.Principal, v.Groups})
	if err != nil {
		return tool.Info{}, err
	}
	return in.settings.infos(v.Principal)(l.seenBy(ctx, v, []*catalog.Tool{in.tool})[0]), nil
}

// enabled returns the tools of a snapshot that match, ordered by name, whatever q.MaxTools is. It
// leaves out tools of disabled plugins, and those that the caller may not see.
func (l *toolList) enabled(ctx context.Context, snapshot *catalog.Snapshot, q tool.Query) []*catalog.Tool {
	q.MaxTools = 0
	disabled, may := l.generations.latest().Disabled, permission{authz.FromContext(ctx), authz.ToolsList, q.Principal, q.Groups}
	return slices.DeleteFunc(snapshot.Tools(q), func(t *catalog.Tool) bool {
		return disabled(t.Plugin.Info.Name) || !may.use(t.Spec.Name)
	})
}

// infos returns a function that describes a tool to callers, with the reason why it cannot be
// called: a secret of the principal is missing. The function looks each secret up once. It is for
// one answer, and not safe for concurrent use.
func (g *generation) infos(principal string) func(t *catalog.Tool) tool.Info {
	view := g.Secrets.Glance(principal)
	return func(t *catalog.Tool) tool.Info {
		info := t.Info()
		if _, err := view.Values(t.Plugin.Info.Name, t.Spec.RequiresAuth); err != nil {
			info.UnavailableReason = err.Error()
		}
		return info
	}
}

// toolView is a tool as one generation of settings sees it, with these settings.
type toolView struct {
	tool     *catalog.Tool // nil: there is no such tool
	settings *generation
}

// lookup returns a tool that can be called. If the tool is unknown, lookup waits until new plugins
// have described themselves. A tool that the caller may not use is unknown to it: the answer takes
// the same steps and has the same text. The settings in the result are not nil, even if there is an
// error.
func (l *toolList) lookup(ctx context.Context, name string, may permission) (toolView, error) {
	settings, snapshot := l.generations.view(l.cfg.Catalog)
	if t := snapshot.Tool(name); t != nil && may.use(name) {
		return toolView{t, settings}, settings.switchedOff(t.Plugin.Info.Name)
	}
	if err := l.cfg.Catalog.Settle(ctx); err != nil {
		return toolView{settings: settings}, tool.AsError(err)
	}
	settings, snapshot = l.generations.view(l.cfg.Catalog)
	if t := snapshot.Tool(name); t != nil && may.use(name) {
		return toolView{t, settings}, settings.switchedOff(t.Plugin.Info.Name)
	}
	return toolView{settings: settings}, unknownTool(snapshot, name, settings.Disabled, may)
}

func checkCount(q tool.Query) error {
	if q.MaxTools < 0 {
		return tool.Errorf(tool.KindInvalidArgument, "max_tools %d must not be negative", q.MaxTools)
	}
	return nil
}
