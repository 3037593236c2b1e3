package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// stander makes payments as an agent, with standing approvals and without approvals of single
// calls.
type stander struct {
	*toolhost
	t *testing.T
	c *client.Client
}

// pays makes a payment, and reports whether toolhost executed it. A payment that was not executed
// must wait for an approval.
func (s *stander) pays(agent string) (executed bool, asked *tool.Error) {
	s.t.Helper()
	result, err := s.c.Call(s.t.Context(), tool.Call{Tool: "pay", Arguments: json.RawMessage(`{"amount":1}`), Agent: agent, Run: "run-1"})
	if err != nil {
		if tool.KindOf(err) != tool.KindApprovalRequired {
			s.t.Fatal(err)
		}
		return false, tool.AsError(err)
	}
	if result.Result.Metadata[tool.KeyStandingApproval] == nil || !strings.Contains(result.Result.Text(), `"amount":100`) {
		s.t.Fatalf("it was executed without an approval: %+v", result)
	}
	return true, nil
}

// approve creates a standing approval of payments like the one that toolhost has just refused.
func (s *stander) approve(request string) tool.StandingApproval {
	s.t.Helper()
	executed, asked := s.pays("payer")
	if executed {
		s.t.Fatal("the payment needs no approval")
	}
	a, err := s.c.CreateApproval(s.t.Context(), tool.ApprovalRequest{
		RequestID: request, Tool: "pay", Arguments: asked.Arguments, DefinitionSHA256: asked.DefinitionSHA256, Agent: "payer",
		Scope: tool.ScopePrincipal, Expires: time.Now().Add(time.Hour),
	}, client.Principal{})
	if err != nil {
		s.t.Fatal(err)
	}
	if executed, _ := s.pays("payer"); !executed {
		s.t.Fatal("the approval approves nothing")
	}
	return a
}

// again starts toolhost again after it ended.
func (s *stander) again() {
	s.t.Helper()
	s.serve(s.t)
	s.c = s.dial(s.t)
}

// ended waits until an approval has ended, and checks that payments wait for an approval again.
func (s *stander) ended(id string, why tool.ApprovalEnd) {
	s.t.Helper()
	eventually.Holds(s.t, "the approval has ended as "+string(why), func() bool {
		page, err := s.c.Approvals(s.t.Context(), tool.ApprovalQuery{Ended: true})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, a := range page.Approvals {
			if a.ID == id {
				return a.End == why
			}
		}
		return false
	})
	if executed, _ := s.pays("payer"); executed {
		s.t.Errorf("the approval that ended as %s approves", why)
	}
}

// A standing approval outlives toolhost, also if it is killed. A reload with another definition, a
// changed plugin, a revocation and a restored backup end it for good.
func TestStandingApprovals(t *testing.T) {
	t.Parallel()
	s := &stander{toolhost: prepare(t), t: t}
	program, err := os.ReadFile(filepath.Join(bin, "approvalplugin"))
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(s.plugins, "approvalplugin")
	write(t, plugin, string(program), 0o700)
	s.again()

	a := s.approve("one")
	if executed, _ := s.pays("another"); executed {
		t.Error("another agent has the approval")
	}
	s.do(t, "approvals", "list").says(t, a.ID, "pay", "payer", "in force")
	s.stop(t)
	s.again()
	if executed, _ := s.pays("payer"); !executed {
		t.Error("the approval does not survive a restart")
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.exited
	s.again()
	if executed, _ := s.pays("payer"); !executed {
		t.Error("the approval does not survive kill -9")
	}
	putConfiguration(t, s.toolhost, "tools: {pay: {description: Pays twice.}}\n")
	s.trust(t, "toolhost.yaml")
	s.do(t, "reload").exits(t, 0)
	s.ended(a.ID, tool.ApprovalChanged)

	b := s.approve("two")
	write(t, plugin+".new", string(program)+"\n", 0o700)
	if err := os.Rename(plugin+".new", plugin); err != nil {
		t.Fatal(err)
	}
	s.do(t, "reload").exits(t, 0)
	s.ended(b.ID, tool.ApprovalChanged)
	write(t, plugin+".new", string(program), 0o700)
	if err := os.Rename(plugin+".new", plugin); err != nil {
		t.Fatal(err)
	}
	s.do(t, "reload").exits(t, 0)
	s.ended(b.ID, tool.ApprovalChanged)

	c := s.approve("three")
	s.do(t, "approvals", "revoke", c.ID, "--reason", "enough").says(t, c.ID, "revoked")
	s.ended(c.ID, tool.ApprovalRevoked)
	s.do(t, "audit", "search", "--kind", "approval").says(t, "create standing approval "+a.ID, "end standing approval "+b.ID, "enough")

	d := s.approve("four")
	file := filepath.Join(s.home, "b.tar.gz")
	s.done(t, "backup", file)
	s.stop(t)
	s.done(t, "restore", file, "--replace")
	s.again()
	s.ended(d.ID, tool.ApprovalRestored)
}
