package agentserver_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/tool"
)

// The pages get what the server knows about the caller, and nothing that the caller says.
func TestCodesForThePages(t *testing.T) {
	var evidence authn.Evidence
	ends := time.Now().Add(time.Minute)
	pages := &agentserver.Pages{URL: "https://agents.example", NewCode: func(e authn.Evidence) (string, time.Time, error) {
		evidence = e
		if !e.HasUID {
			return "", ends, tool.Errorf(tool.KindDenied, "no user")
		}
		return "abcd-efgh", ends, nil
	}}
	for name, test := range map[string]struct {
		pages *agentserver.Pages
		kind  tool.Kind
	}{
		"no pages": {nil, tool.KindUnavailable}, "no user": {pages, tool.KindDenied},
	} {
		server := agentserver.NewServer(agentserver.Config{Agent: &fakeAgent{}, Pages: test.pages, Gate: gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: someone{}, Policy: gate.Always(gate.LocalPolicy())})})
		c, served, err := server.Connect()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ConsoleCode(t.Context()); tool.KindOf(err) != test.kind {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	if evidence.HasUID || evidence.Bearer != "" {
		t.Errorf("a caller in memory has the evidence %+v", evidence)
	}
}
