package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// twoTenants lets this user see the statistics of all tenants, and act for the members of one.
const twoTenants = `
auth:
  bindings:
    - {role: admin, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: delegate, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: caller, members_of: [crimson]}
`

// counting are agents that differ only in the statistics that their models get.
const counting = `
agents:
  none: {tool_statistics: none}
  tenant: {tool_statistics: tenant}
  all: {tool_statistics: all}
  unset: {}
`

// The description of a tool tells the model how the calls of the run's tenant went, or those of all
// tenants, or nothing. The calls are those that toolhost has really made: 20 that succeeded, and 40
// of another tenant that failed.
func TestStatisticsReachTheModel(t *testing.T) {
	h := prepare(t)
	install(t, h, "calculator", "plugins/calculator", "")
	write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf(twoTenants, os.Getuid()), 0o600)
	h.serve(t)
	c := h.dial(t)
	compute := func(ctx context.Context, expression string, times int, fails bool) {
		t.Helper()
		for range times {
			out, err := c.Call(ctx, tool.Call{Tool: "calculator", Arguments: fmt.Appendf(nil, `{"expression":%q}`, expression)})
			if err != nil || out.Err != nil || out.Result.IsError != fails {
				t.Fatalf("%s gives %+v, %v", expression, out, err)
			}
		}
	}
	compute(t.Context(), "1+1", 20, false)
	compute(client.OnBehalfOf(t.Context(), client.Principal{Tenant: "crimson", Name: "ada"}), "1/0", 40, true)
	eventually.Shows(t, "the statistics of all calls", func() (bool, any) {
		stats, err := c.Admin().Stats(t.Context(), tool.StatsQuery{Since: time.Now().Add(-time.Hour)})
		return err == nil && len(stats) == 1 && stats[0].Succeeded == 20 && stats[0].ToolErrors == 40, fmt.Sprint(stats, err)
	})
	m := newMind(t, func(thought) (string, string) { return "done", "" })
	file := filepath.Join(h.home, "agentd.yaml")
	write(t, file, counting, 0o600)
	d := h.agentdServe(t, append(m.flags(), "--config", file)...)
	for agent, want := range map[string]string{
		"none": "", "unset": "", "tenant": "Of at least 20 past calls, fewer than 1 % failed.", "all": "Of at least 60 past calls, up to 70 % failed.",
	} {
		before := len(m.thoughts())
		id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go", Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		d.story(t, id, 0, nil)
		asked := m.thoughts()[before:]
		if len(asked) != 1 {
			t.Fatalf("%s: the model was asked %d times", agent, len(asked))
		}
		description := ""
		for _, offered := range asked[0].Tools {
			if offered.Function.Name == "calculator" {
				description = offered.Function.Description
			}
		}
		if description == "" || !strings.Contains(description, want) || strings.Contains(description, "past calls") != (want != "") {
			t.Errorf("%s: the model reads %q, want %q", agent, description, want)
		}
		if want != "" && strings.Contains(asked[0].raw, "crimson") {
			t.Errorf("%s: the model reads the name of another tenant: %s", agent, asked[0].raw)
		}
	}
}
