package hosttest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/internal/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// fakeTools is the tools of a Fake. It is safe for concurrent use.
type fakeTools struct {
	mu    sync.Mutex
	tools []Tool // ordered by name; not changed in place
	// revision is another one after each change of the tools
	revision string
}

// SetTools replaces the tools.
func (f *fakeTools) SetTools(tools ...Tool) {
	tools = slices.Clone(tools)
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tools, f.revision = tools, rand.Text()
}

// Revision identifies the tools that match.
func (f *fakeTools) Revision(_ context.Context, query tool.Query) (string, error) {
	query.Principal, query.Groups, query.Session, query.Context = "", nil, "", nil
	selected, err := json.Marshal(query)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.revision + string(selected), err
}

func (f *fakeTools) all() []Tool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tools
}

func info(t Tool) tool.Info {
	return tool.Info{Spec: t.Spec, Plugin: PluginName, PluginVersion: PluginVersion}
}

// ListTools returns the tools that match, ordered by name.
func (f *fakeTools) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	return f.ListPage(ctx, query, "")
}

// ListPage returns the tools that match and whose names follow a name.
func (f *fakeTools) ListPage(_ context.Context, query tool.Query, after string) ([]tool.Info, error) {
	var found []tool.Info
	for _, t := range f.all() {
		if t.Spec.Name > after && matches(query, info(t)) {
			if found = append(found, info(t)); len(found) == query.MaxTools {
				break
			}
		}
	}
	return found, nil
}

func matches(q tool.Query, t tool.Info) bool {
	s := &t.Spec
	overlap := func(t string) bool { return slices.Contains(q.Tags, t) }
	return !slices.Contains(q.Excluded, s.Name) &&
		(len(q.Plugins) == 0 || slices.Contains(q.Plugins, t.Plugin)) &&
		(len(q.Names) == 0 || slices.Contains(q.Names, s.Name)) &&
		(len(q.Categories) == 0 || slices.Contains(q.Categories, s.Category)) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(s.Tags, overlap)) &&
		(q.Dangerous == nil || *q.Dangerous == s.Dangerous) &&
		(q.MaxCostPerUse == nil || s.CostPerUse <= *q.MaxCostPerUse)
}

// GetTool returns one tool.
func (f *fakeTools) GetTool(_ context.Context, name string, _ tool.Viewer) (tool.Info, error) {
	t, err := f.tool(name)
	if err != nil {
		return tool.Info{}, err
	}
	return info(t), nil
}

func (f *fakeTools) tool(name string) (Tool, error) {
	for _, t := range f.all() {
		if t.Spec.Name == name {
			return t, nil
		}
	}
	return Tool{}, tool.Errorf(tool.KindNotFound, "there is no tool %q", name)
}

// SearchTools returns the tools that match and contain one of the words, the best match first. The
// query's MaxTools is 10 by default.
func (f *fakeTools) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
	if words == "" || query.MaxTools < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "no words, or fewer than no tools")
	}
	most := cmp.Or(query.MaxTools, 10)
	query.MaxTools = 0
	infos, err := f.ListTools(ctx, query)
	if err != nil {
		return nil, err
	}
	var matches []tool.Match
	for _, hit := range toolsearch.New(infos).Search(words, nil, most) {
		matches = append(matches, tool.Match{Info: infos[hit.Tool], Score: hit.Score})
	}
	return matches, nil
}

// RenderTools returns the tools that match and can be called, in a format.
func (f *fakeTools) RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error) {
	if query.MaxTools < 0 {
		return tool.Rendered{}, tool.Errorf(tool.KindInvalidArgument, "fewer than no tools")
	}
	infos, err := f.ListTools(ctx, query)
	if err != nil {
		return tool.Rendered{}, err
	}
	return render.Tools(format, infos)
}
