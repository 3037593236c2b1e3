package mcpserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
)

// approve approves the call that waits, once there is one.
func (f *fixture) approve(t *testing.T, by string) held.Decision {
	t.Helper()
	var waiting []held.Decision
	eventually.Holds(t, "one call waits", func() bool {
		waiting = f.host.HeldCalls().Waiting(func(*held.Decision) bool { return true })
		return len(waiting) == 1
	})
	made, err := f.host.DecideHeld(t.Context(), held.Verdict{Name: waiting[0].Name, Etag: waiting[0].Etag, Approve: true, By: by}, "unix")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A client that can ask nobody learns how its call is approved, and its repeat passes once.
func TestApprovedElsewhere(t *testing.T) {
	cancels := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}}
	eachVersion(t, func(t *testing.T, version string) {
		for name, options := range map[string]*mcp.ClientOptions{"cannot ask": nil, "has no user": cancels} {
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, nil)
				s := f.connect(t, version, options)
				r := call(t, s, "danger", nil, nil)
				made := f.approve(t, "olga")
				if !r.IsError || !strings.Contains(text(r), "`toolhost approvals approve "+made.Name+"`") || strings.Contains(text(r), "did not approve") {
					t.Errorf("the client is told %q", text(r))
				}
				if r := call(t, s, "danger", map[string]any{"other": 1}, nil); !r.IsError {
					t.Errorf("another call passes: %+v", r)
				}
				if r := call(t, s, "danger", nil, nil); text(r) != "done" {
					t.Errorf("after the approval: %+v", r)
				}
				if r := call(t, s, "danger", nil, nil); !r.IsError {
					t.Errorf("once more: %+v", r)
				}
			})
		}
	})
}

// inBackground calls the dangerous tool, and returns where its result arrives.
func inBackground(t *testing.T, s *mcp.ClientSession) <-chan *mcp.CallToolResult {
	result := make(chan *mcp.CallToolResult, 1)
	go func() { // ends with the session
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "danger"})
		if err != nil {
			r = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
		}
		result <- r
	}()
	return result
}

// With ApprovalWait, the request itself waits for the person.
func TestTheRequestWaits(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		f := newFixture(t, func(c *mcpserver.Config) { c.ApprovalWait = time.Hour })
		s := f.connect(t, version, nil)
		result := inBackground(t, s)
		f.approve(t, "olga")
		if r := <-result; text(r) != "done" {
			t.Errorf("%+v", r)
		}
	})
}

// The user of a client is not who may approve where a rule wants another principal. So the call
// waits for that one, also if the client could ask its user.
func TestAnotherPersonHasToApprove(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "two", When: "true", Then: policy.FourEyes}})
	if err != nil {
		t.Fatal(err)
	}
	yes := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		t.Error("the client was asked")
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
	}}
	eachVersion(t, func(t *testing.T, version string) {
		f := newFixture(t, func(c *mcpserver.Config) { c.ApprovalWait = time.Hour })
		f.host.Reconfigure(host.Settings{Policy: rules}, nil)
		s := f.connect(t, version, yes)
		result := inBackground(t, s)
		if d := f.approve(t, "olga"); !d.FourEyes || d.Rule != "two" {
			t.Errorf("%+v", d)
		}
		if r := <-result; text(r) != "done" {
			t.Errorf("%+v", r)
		}
	})
}
