package agent_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// listed is a toolhost that counts the lists that it sends.
type listed struct {
	*fakeTools
	mu    sync.Mutex
	asked int
	sent  int // tools in all lists
	// at is the revision of a list; "": this toolhost has no revisions
	at func(q tool.Query) string
}

func (l *listed) ListChangedTools(_ context.Context, q tool.Query, known string) ([]tool.Info, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	revision := l.at(q)
	if revision != "" && revision == known {
		return nil, revision, nil
	}
	l.sent += len(l.infos)
	return slices.Clone(l.infos), revision, nil
}

func (l *listed) replace(infos []tool.Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.infos = infos
}

// An agent lists tools again only if they have changed, however many turns and runs it has. A
// toolhost without revisions sends the list for each request.
func TestToolsAreListedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		at   func(tool.Query) string
		sent int // lists for two runs of three requests
	}{
		"unchanged":             {func(tool.Query) string { return "1" }, 1},
		"without revisions":     {func(tool.Query) string { return "" }, 6},
		"one list of a session": {func(q tool.Query) string { return q.Session }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
					if len(req.Messages) < 5 {
						return response(model.StopToolUse, call("", "tool3")), nil
					}
					return response(model.StopEndTurn, text("done")), nil
				}}
				tools := &listed{fakeTools: newTools(echo), at: test.at}
				tools.infos = manyTools()
				slices.Reverse(tools.infos)
				f := newFixture(t, m, tools.fakeTools, func(c *agent.Config) {
					c.Tools, c.ListChangedTools, c.Search = tools, tools.ListChangedTools, &fakeSearch{}
				})
				for i := range 2 {
					id := fmt.Sprint("run", i)
					if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "go", Tools: loop.ToolChoice{MaxTools: 2}}); err != nil {
						t.Fatal(err)
					}
					for _, err := range f.WatchRun(t.Context(), id, 0) {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				if tools.asked != 6 || tools.sent != test.sent*len(tools.infos) {
					t.Errorf("toolhost was asked %d times and sent %d lists, want 6 and %d", tools.asked, tools.sent/len(tools.infos), test.sent)
				}
				for _, req := range m.seen() {
					if got := offeredIn(req); !slices.Equal(got, []string{"tool0", "tool1", loop.SystemToolSearch}) {
						t.Errorf("the model is told of %q", got)
					}
				}
			})
		})
	}
}

// A changed list reaches the next request of a run that has an earlier one.
func TestChangedToolsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := &listed{fakeTools: newTools(echo)}
		tools.at = func(tool.Query) string { return fmt.Sprint(len(tools.infos)) }
		tools.infos = manyTools()[:1]
		m := turns(response(model.StopToolUse, call("x", "tool0")), response(model.StopEndTurn, text("done")))
		answer := m.answer
		m.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
			tools.replace(manyTools()[:2])
			return answer(ctx, req)
		}
		f := newFixture(t, m, tools.fakeTools, func(c *agent.Config) { c.Tools, c.ListChangedTools = tools, tools.ListChangedTools })
		f.start(loop.Task{})
		f.end()
		for i, want := range [][]string{{"tool0"}, {"tool0", "tool1"}} {
			if got := offeredIn(m.seen()[i]); !slices.Equal(got, want) {
				t.Errorf("request %d lists %q, want %q", i+1, got, want)
			}
		}
	})
}
