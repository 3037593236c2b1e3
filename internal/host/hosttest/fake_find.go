package hosttest

import (
	"cmp"
	"context"

	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/internal/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// SearchTools returns the tools that match and hold one of the words, the best first, 10 unless the query says how many.
func (f *Fake) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
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
func (f *Fake) RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error) {
	if query.MaxTools < 0 {
		return tool.Rendered{}, tool.Errorf(tool.KindInvalidArgument, "fewer than no tools")
	}
	infos, err := f.ListTools(ctx, query)
	if err != nil {
		return tool.Rendered{}, err
	}
	return render.Tools(format, infos)
}
