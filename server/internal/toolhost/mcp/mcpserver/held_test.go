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
	"github.com/toolhost/toolhost/tool"
)

// approve approves the call that waits, once there is one.
func (f *fixture) approve(t *testing.T, by string, groups ...string) held.Decision {
	t.Helper()
	var waiting []held.Decision
	eventually.Holds(t, "one call waits", func() bool {
		waiting = f.host.HeldCalls().Waiting(func(*held.Decision) bool { return true })
		return len(waiting) == 1
	})
	made, err := f.host.DecideHeld(t.Context(), held.Verdict{Name: waiting[0].Name, Etag: waiting[0].Etag, Approve: true, By: by, Groups: groups}, "unix")
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

// remote is a host that knows the principal of its client, and refuses the approvals of one without
// the right calls.approve: when the call opens, or as its outcome.
type remote struct {
	mcpserver.Tools
	groups            []string
	without, atTheEnd bool
}

func (r *remote) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if call.Approval == nil {
		return r.Tools.Open(ctx, call, complete)
	}
	call.Approval.Approver, call.Approval.ApproverGroups = "ada", r.groups
	switch refusal := tool.Errorf(tool.KindDenied, "ada does not have the right calls.approve"); {
	case r.without && r.atTheEnd:
		return refusing{err: refusal}, nil
	case r.without:
		return nil, refusal
	}
	return r.Tools.Open(ctx, call, complete)
}

// refusing is an execution that fails.
type refusing struct {
	tool.Execution
	err error
}

func (r refusing) Next(context.Context) (tool.Event, error) { return tool.Event{}, r.err }
func (refusing) Close()                                     {}

// A user that accepts is asked first. If its approval does not count, the call waits for another
// person, once; a call that the policy denies does not wait.
func TestTheApprovalOfTheUserDoesNotCount(t *testing.T) {
	for name, test := range map[string]struct {
		approvers, groups []string
		without, atTheEnd bool
		denies            bool // the policy, by the time of the approval
		want              string
	}{
		"without the right":             {without: true, want: "`toolhost approvals approve calls/"},
		"without the right, at the end": {without: true, atTheEnd: true, want: "`toolhost approvals approve calls/"},
		"denied by then":                {denies: true, want: "is not allowed"},
		"without the right, denied":     {without: true, denies: true, want: "is not allowed"},
		"in the group":                  {approvers: []string{"leads"}, groups: []string{"leads"}, want: "done"},
		"in another group":              {approvers: []string{"leads"}, groups: []string{"devs"}, want: "`toolhost approvals approve calls/"},
		"in the group, without the right": {approvers: []string{"leads"}, groups: []string{"leads"}, without: true,
			want: "`toolhost approvals approve calls/"},
	} {
		eachVersion(t, func(t *testing.T, version string) {
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, func(c *mcpserver.Config) {
					c.Tools = &remote{Tools: c.Tools, groups: test.groups, without: test.without, atTheEnd: test.atTheEnd}
				})
				settings := func(then policy.Verdict) host.Settings {
					rule := policy.Rule{Name: "rule", When: "true", Then: then}
					if then == policy.RequireApproval {
						rule.Approvers = test.approvers
					}
					rules, err := policy.Compile([]policy.Rule{rule})
					if err != nil {
						t.Fatal(err)
					}
					return host.Settings{Policy: rules}
				}
				f.host.Reconfigure(settings(policy.RequireApproval), nil)
				asked := 0
				s := f.connect(t, version, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if asked++; test.denies {
						f.host.Reconfigure(settings(policy.Deny), nil)
					}
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
				}})
				r := call(t, s, "danger", nil, nil)
				if !strings.Contains(text(r), test.want) || asked != 1 {
					t.Errorf("asked %d times; the client is told %q", asked, text(r))
				}
				held := f.host.HeldCalls().Waiting(func(*held.Decision) bool { return true })
				if waits := strings.Contains(test.want, "approvals approve"); (len(held) == 1) != waits {
					t.Fatalf("what waits is %+v", held)
				} else if waits {
					f.approve(t, "olga", "leads")
					if r := call(t, s, "danger", nil, nil); text(r) != "done" {
						t.Errorf("after the approval: %+v", r)
					}
				}
			})
		})
	}
}
