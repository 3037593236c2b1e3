package agentserver_test

import (
	"context"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/tool"
)

// reporting returns a client of an agent that is known as a principal of the tenant red, and the
// refusals that the gate reports.
func reporting(t *testing.T, a agentserver.Agent, name string) (agentdv1.AgentServiceClient, chan gate.Refusal) {
	t.Helper()
	refusals := make(chan gate.Refusal, 100)
	return through(t, a, gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{identity.Principal{Tenant: "red", Name: name}}, Policy: gate.Always(authz.New(roles)),
		Refused: func(_ context.Context, r gate.Refusal) { refusals <- r },
	})), refusals
}

// The names of decisions can be guessed: the next one after d2 is d3. A caller that approves it in
// advance must not be faster than the check that it may.
func TestApprovalOfALaterDecision(t *testing.T) {
	f := runs()
	c, _ := reporting(t, f, "ada")
	for _, id := range []string{"d3", "r/d3", "red/r/d3"} {
		if _, err := c.Respond(t.Context(), approve("r", id)); kindOf(err) != tool.KindNotFound {
			t.Errorf("ada approves %s, which her run will ask for: %v", id, err)
		}
	}
	if f.made != nil {
		t.Errorf("the run got %+v", f.made)
	}
}

// The attempts of a caller to reach runs of others, and to approve its own calls, are reported.
func TestAttemptsAreReported(t *testing.T) {
	c, refusals := reporting(t, runs(), "eve")
	for rpc, err := range attempts(t, c, "r", "d1") {
		if kindOf(err) != tool.KindNotFound {
			t.Errorf("%s: %v", rpc, err)
		}
		if r := <-refusals; r.Principal.Key() != "red/eve" || r.Target != "red/r" || r.Method == "" || r.Reason == "" {
			t.Errorf("reported is %+v", r)
		}
	}
	c, refusals = reporting(t, runs(), "ada")
	if _, err := c.Respond(t.Context(), approve("r", "d1")); kindOf(err) != tool.KindDenied {
		t.Errorf("ada approves her own call: %v", err)
	}
	if r := <-refusals; r.Principal.Key() != "red/ada" || r.Target != "d1" {
		t.Errorf("reported is %+v", r)
	}
}
