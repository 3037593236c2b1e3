package host

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/tool"
)

// defaultMatches is how many tools a search returns whose caller does not say: what a model can choose from.
const defaultMatches = 10

// ListTools returns the tools that match, ordered by name. Where it lists dynamic tools for a session, it waits some seconds
// at most for plugins that have yet to say how they look.
func (h *Host) ListTools(ctx context.Context, q tool.Query) ([]tool.Info, error) {
	return h.ListPage(ctx, q, "")
}

// ListPage is ListTools of the tools whose names follow a name; after is empty for all. It looks at no tool before that name, and
// at none after the last of q.MaxTools.
func (h *Host) ListPage(ctx context.Context, q tool.Query, after string) ([]tool.Info, error) {
	if err := checkSession(q.Session); err != nil {
		return nil, err
	}
	var tools []*catalog.Tool
	for t := range h.cfg.Catalog.Snapshot().ToolsAfter(after, q) {
		if h.cfg.Disabled(t.Plugin.Info.Name) {
			continue
		}
		if tools = append(tools, t); len(tools) == q.MaxTools {
			break
		}
	}
	infos, info := make([]tool.Info, 0, len(tools)), h.infos()
	for _, t := range h.seenBy(ctx, q.Viewer(), tools) {
		infos = append(infos, info(t))
	}
	return infos, nil
}

// offered returns the tools that match, ordered by name, however many, without those of plugins that are switched off.
func (h *Host) offered(snapshot *catalog.Snapshot, q tool.Query) []*catalog.Tool {
	q.MaxTools = 0
	return slices.DeleteFunc(snapshot.Tools(q), func(t *catalog.Tool) bool { return h.cfg.Disabled(t.Plugin.Info.Name) })
}

// SearchTools returns the tools that match and hold one of the words, the best match first: 10 unless the query says how
// many. Tools that cannot be called now are among them, with the reason. Errors: invalid_argument.
func (h *Host) SearchTools(ctx context.Context, words string, q tool.Query) ([]tool.Match, error) {
	if strings.TrimSpace(words) == "" {
		return nil, tool.Errorf(tool.KindInvalidArgument, "there are no words to search for; say in a few what the tool should do")
	}
	if err := checkCount(q); err != nil {
		return nil, err
	}
	if err := checkSession(q.Session); err != nil {
		return nil, err
	}
	indexed := h.search.of(h.cfg.Catalog)
	// Both are in the same order.
	keep, at := make([]bool, len(indexed.tools)), 0
	for _, t := range h.offered(indexed.snapshot, q) {
		for indexed.tools[at] != t {
			at++
		}
		keep[at] = true
	}
	hits := indexed.words.Search(words, func(i int) bool { return keep[i] }, cmp.Or(q.MaxTools, defaultMatches))
	found := make([]*catalog.Tool, len(hits))
	for i, hit := range hits {
		found[i] = indexed.tools[hit.Tool]
	}
	matches, info := []tool.Match{}, h.infos()
	for i, t := range h.seenBy(ctx, q.Viewer(), found) {
		matches = append(matches, tool.Match{Info: info(t), Score: hits[i].Score})
	}
	return matches, nil
}

// RenderTools returns the tools that match in a format, ordered by name. Rendered.Omitted lists the tools that cannot be
// called now, or that the API of the format refuses. Errors: invalid_argument.
func (h *Host) RenderTools(ctx context.Context, format tool.Format, q tool.Query) (tool.Rendered, error) {
	if err := checkCount(q); err != nil {
		return tool.Rendered{}, err
	}
	most := q.MaxTools
	q.MaxTools = 0 // counted below, without those that cannot be called
	infos, err := h.ListTools(ctx, q)
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

// checkSession refuses a session that no call could have.
func checkSession(session string) error {
	if session == "" {
		return nil
	}
	if err := tool.CheckID(session); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the session cannot be used: %w", err)
	}
	return nil
}

func checkCount(q tool.Query) error {
	if q.MaxTools < 0 {
		return tool.Errorf(tool.KindInvalidArgument, "max_tools %d must not be negative", q.MaxTools)
	}
	return nil
}

// GetTool returns one tool. If it is unknown while new plugins are still being asked what they are, GetTool waits for
// them.
func (h *Host) GetTool(ctx context.Context, name string, v tool.Viewer) (tool.Info, error) {
	if err := checkSession(v.Session); err != nil {
		return tool.Info{}, err
	}
	t, err := h.lookup(ctx, name)
	if err != nil {
		return tool.Info{}, err
	}
	return h.infos()(h.seenBy(ctx, v, []*catalog.Tool{t})[0]), nil
}

func (h *Host) lookup(ctx context.Context, name string) (*catalog.Tool, error) {
	if t := h.cfg.Catalog.Snapshot().Tool(name); t != nil {
		return t, h.switchedOff(t.Plugin.Info.Name)
	}
	if err := h.cfg.Catalog.Settle(ctx); err != nil {
		return nil, tool.AsError(err)
	}
	snapshot := h.cfg.Catalog.Snapshot()
	if t := snapshot.Tool(name); t != nil {
		return t, h.switchedOff(t.Plugin.Info.Name)
	}
	return nil, unknownTool(snapshot, name, h.cfg.Disabled)
}

// switchedOff returns an error if the operator switched the plugin off.
func (h *Host) switchedOff(plugin string) error {
	if h.cfg.Disabled(plugin) {
		return tool.Errorf(tool.KindUnavailable, "the plugin %q is %s", plugin, reasonSwitchedOff)
	}
	return nil
}

const reasonSwitchedOff = "switched off in the configuration: disabled is true"
