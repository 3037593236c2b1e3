package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// choosyModel accepts a limited number of tools, and none with a 3 in its name.
type choosyModel struct {
	*fakeModel
	most int
}

func (c choosyModel) MaxTools() int { return c.most }

func (c choosyModel) Refuses(t model.Tool) string {
	if strings.Contains(t.Name, "3") {
		return "it has a 3"
	}
	return ""
}

type noSearch struct{}

func (noSearch) SearchTools(context.Context, string, tool.Query) ([]tool.Match, error) {
	return nil, nil
}

// Tools that the model's API rejects are left out, with one line in the log. Beyond the API's
// limit, tools are found by search, or left out without one.
func TestToolsThatTheModelDoesNotTake(t *testing.T) {
	for name, test := range map[string]struct {
		search     agent.ToolSearch
		most, want int
		last       string
		warnings   int
	}{
		"no bound":          {nil, 0, 18, "t20", 2},
		"a bound, cut":      {nil, 10, 10, loop.SystemAttemptCompletion, 2 + 9},
		"a bound, deferred": {noSearch{}, 10, 6, loop.SystemToolSearch, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(response(model.StopToolUse, call("a", "t01")), response(model.StopEndTurn, text("hi")))
			var log bytes.Buffer
			f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
				c.Model, c.Search, c.Log = choosyModel{m, test.most}, test.search, slog.New(slog.NewTextHandler(&log, nil))
				if test.most > 0 {
					c.SystemTools = []string{loop.SystemAttemptCompletion}
				}
			})
			f.tools.infos = nil
			for i := range 20 {
				f.tools.infos = append(f.tools.infos, tool.Info{Spec: tool.Spec{Name: fmt.Sprintf("t%02d", i+1)}})
			}
			f.start(loop.Task{})
			f.end()
			f.Close()
			for _, req := range m.seen() {
				if req.Tools[len(req.Tools)-1].Name != test.last || len(req.Tools) != test.want {
					t.Errorf("the model was told of %d tools, of %s last", len(req.Tools), req.Tools[len(req.Tools)-1].Name)
				}
				for _, told := range req.Tools {
					if strings.Contains(told.Name, "3") {
						t.Errorf("the model was told of %s", told.Name)
					}
				}
			}
			if n := strings.Count(log.String(), "not offered a tool"); n != test.warnings {
				t.Errorf("%d warnings, want %d:\n%s", n, test.warnings, log.String())
			}
		})
	}
}
