package hostserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// watched records the viewers for which tools were described.
type watched struct {
	*hosttest.Toolhost
	mu      sync.Mutex
	viewers []tool.Viewer
}

func (w *watched) note(v tool.Viewer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.viewers = append(w.viewers, v)
}

func (w *watched) ListPage(ctx context.Context, q tool.Query, after string) ([]tool.Info, error) {
	w.note(q.Viewer())
	return w.Toolhost.ListPage(ctx, q, after)
}

func (w *watched) GetTool(ctx context.Context, name string, v tool.Viewer) (tool.Info, error) {
	w.note(v)
	return w.Toolhost.GetTool(ctx, name, v)
}

func (w *watched) SearchTools(ctx context.Context, words string, q tool.Query) ([]tool.Match, error) {
	w.note(q.Viewer())
	return w.Toolhost.SearchTools(ctx, words, q)
}

func (w *watched) RenderTools(ctx context.Context, format tool.Format, q tool.Query) (tool.Rendered, error) {
	w.note(q.Viewer())
	return w.Toolhost.RenderTools(ctx, format, q)
}

// Session and context are those of the request. The principal is that of the connection, whatever
// the caller sends.
func TestToolsAreDescribedForTheirViewer(t *testing.T) {
	w := &watched{Toolhost: newHost(t)}
	a, _ := serve(t, socket(t), hostserver.Config{Host: w})
	c := dial(t, a)
	sent := tool.Viewer{Principal: "uid:0815", Session: "s", Context: map[string]json.RawMessage{"k": json.RawMessage(`1`)}}
	q := tool.Query{Principal: sent.Principal, Session: sent.Session, Context: sent.Context}
	_, listed := c.ListTools(bounded(t), q)
	_, got := c.GetTool(bounded(t), "echo", sent)
	_, found := c.SearchTools(bounded(t), "echo", q)
	_, rendered := c.RenderTools(bounded(t), tool.FormatMCP, q)
	for i, err := range []error{listed, got, found, rendered} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	want := sent
	want.Principal = fmt.Sprintf("uid:%d", os.Getuid())
	if diff := cmp.Diff([]tool.Viewer{want, want, want, want}, w.viewers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
