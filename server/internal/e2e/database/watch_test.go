//go:build more

package database_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/testca"
)

// durable reads the durable events of the run r at an agentd, until it ends.
func (n *node) durable(t *testing.T, seen func(*agentdv1.RunEvent)) (events []*agentdv1.RunEvent) {
	t.Helper()
	stream, err := n.WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	for err == nil {
		var m *agentdv1.WatchRunResponse
		if m, err = stream.Recv(); err == nil && m.GetEvent().GetIndex() == 0 {
			events = append(events, m.GetEvent())
			seen(m.GetEvent())
		}
	}
	if len(events) == 0 || events[len(events)-1].GetRunFinished() == nil {
		t.Fatalf("the watch ended after %d events: %v", len(events), err)
	}
	return events
}

// slow is script with a model that takes longer than a look of a watcher.
func (h *home) slow() string {
	h.t.Helper()
	path := h.script()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(text, []byte("delay: 50ms"), []byte("delay: 500ms")), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

// A watch at one agentd follows a run of another one, which is killed, until the run has ended at
// the former. Each event of the journal comes once.
func TestWatchAtTheOtherAgentd(t *testing.T) {
	h := newHome(t)
	script := h.slow()
	a, b := h.node("a", script), h.node("b", script)
	if _, err := a.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	kill := func(e *agentdv1.RunEvent) {
		if e.GetSeq() == 5 {
			a.end(syscall.SIGKILL)
		}
	}
	got := b.durable(t, kill)
	if epoch := h.db.Do(t, "postgres", "SELECT epoch FROM agentd_runs WHERE id = 'r'")[0][0]; epoch == "0" {
		t.Error("the run ended at the agentd that was to be killed before")
	}
	if diff := cmp.Diff(b.durable(t, func(*agentdv1.RunEvent) {}), got, protocmp.Transform()); diff != "" {
		t.Errorf("(-the journal +the watch):\n%s", diff)
	}
	seqs := h.db.Do(t, "postgres", "SELECT seq FROM agentd_records JOIN agentd_runs ON run = number WHERE id = 'r' ORDER BY seq")
	for i, e := range got {
		if e.GetSeq() != uint64(i+1) || i >= len(seqs) {
			t.Fatalf("event %d has the position %d", i+1, e.GetSeq())
		}
	}
	if len(got) != len(seqs) || len(h.executed("s")) != calls {
		t.Errorf("%d events and %d calls, want %d and %d", len(got), len(h.executed("s")), len(seqs), calls)
	}
	for call, n := range h.executed("s") {
		if n != 1 {
			t.Errorf("call %s was executed %d times", call, n)
		}
	}
}

// reachable writes a configuration in which others of a CA reach an agentd.
func (h *home) reachable(name string, ca *testca.CA) (path string) {
	h.t.Helper()
	certificate, key := ca.Files(h.t, "127.0.0.1")
	path = filepath.Join(h.dir, name+".yaml")
	text := fmt.Sprintf("journal: %s\nnodes: {listen: '127.0.0.1:0', tls: {certificate: %s, key: %s, ca: %s}}\n", h.db.URL("postgres"), certificate, key, ca.Path)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// What a model is writing at one agentd is seen at another one, which asks the former with a
// certificate of the agentds. One with a certificate of another CA sees only what is in the
// journal.
func TestTextFromTheOtherAgentd(t *testing.T) {
	h, ca := newHome(t), testca.New(t)
	goOn := filepath.Join(h.dir, "go-on")
	script := filepath.Join(h.dir, "writing.yaml")
	text := "turns:\n  - chunks: 4\n    calls: [{tool: counterplugin_write, arguments: {key: a-long-enough-key}, pause_until: " + goOn + "}]\n  - text: done\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := h.node("a", script, "--config", h.reachable("a", ca))
	b, stranger := h.node("b", script, "--config", h.reachable("b", ca)), h.node("c", script, "--config", h.reachable("c", testca.New(t)))
	if _, err := a.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "write", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	seen := make(chan []string)
	go func() { // ends with the run
		_, written := stranger.written(t, func() {})
		seen <- written
	}()
	durable, written := b.written(t, func() {
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if got := strings.Join(written, ""); !strings.HasPrefix(got, `{"key`) || durable < 5 {
		t.Errorf("the other agentd shows %q of the arguments, and %d events", got, durable)
	}
	if strange := <-seen; len(strange) > 0 {
		t.Errorf("an agentd of another CA shows %q", strange)
	}
	if !strings.Contains(a.log.String(), "another agentd passes a request on") {
		t.Errorf("the log has no line about the watch:\n%s", a.log)
	}
}

// The listener for agentds lets in certificates of their CA alone, needs a principal, and passes
// nothing but watches on.
func TestStrangersAtTheListenerForAgentds(t *testing.T) {
	h, ca := newHome(t), testca.New(t)
	a := h.node("a", h.script(), "--config", h.reachable("a", ca))
	if _, err := a.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	at := h.db.Do(t, "postgres", "SELECT address FROM agentd_nodes")[0][0]
	id := h.db.Do(t, "postgres", "SELECT lpad(to_hex(node), 16, '0') FROM agentd_nodes")[0][0]
	const key, target = "toolhost-node-caller-bin", "toolhost-node-target"
	me := fmt.Sprintf(`{"Tenant":"default","Name":"uid:%d"}`, os.Getuid())
	watch := func(ctx context.Context, c agentdv1.AgentServiceClient) error {
		stream, err := c.WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: "r"})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	start := func(ctx context.Context, c agentdv1.AgentServiceClient) error {
		_, err := c.StartRun(ctx, &agentdv1.StartRunRequest{Prompt: "count"})
		return err
	}
	list := func(ctx context.Context, c agentdv1.AgentServiceClient) error {
		_, err := c.ListRuns(ctx, &agentdv1.ListRunsRequest{})
		return err
	}
	for name, test := range map[string]struct {
		ca       *testca.CA // nil: no certificate
		metadata []string
		do       func(context.Context, agentdv1.AgentServiceClient) error
		want     codes.Code
	}{
		"another agentd":                 {ca, []string{key, me, target, id}, watch, codes.OK},
		"an agentd of before":            {ca, []string{key, me}, watch, codes.OK},
		"for a third agentd":             {ca, []string{key, me, target, strings.Repeat("0", 16)}, watch, codes.FailedPrecondition},
		"no certificate":                 {nil, []string{key, me}, watch, codes.Unavailable},
		"a certificate of another CA":    {testca.New(t), []string{key, me}, watch, codes.Unavailable},
		"no principal":                   {ca, nil, watch, codes.Unauthenticated},
		"somebody else's run":            {ca, []string{key, `{"Tenant":"red","Name":"ada"}`}, watch, codes.PermissionDenied},
		"a start, which is not passed":   {ca, []string{key, me}, start, codes.Unauthenticated},
		"a list, which is not passed on": {ca, []string{key, me}, list, codes.Unauthenticated},
	} {
		roots := x509.NewCertPool()
		text, err := os.ReadFile(ca.Path)
		if err != nil || !roots.AppendCertsFromPEM(text) {
			t.Fatal(err)
		}
		config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
		if test.ca != nil {
			certificate, private := test.ca.Files(t, "agents-2.example")
			pair, err := tls.LoadX509KeyPair(certificate, private)
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		conn, err := grpc.NewClient(at, grpc.WithTransportCredentials(credentials.NewTLS(config)))
		if err != nil {
			t.Fatal(err)
		}
		if err := test.do(metadata.AppendToOutgoingContext(t.Context(), test.metadata...), agentdv1.NewAgentServiceClient(conn)); status.Code(err) != test.want {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		_ = conn.Close()
	}
}

// written follows the run r, and returns how many durable events it has, and what was seen of the
// arguments of calls. It calls first at the first piece of these.
func (n *node) written(t *testing.T, first func()) (durable int, written []string) {
	stream, err := n.WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	for err == nil {
		var m *agentdv1.WatchRunResponse
		if m, err = stream.Recv(); err != nil {
			break
		}
		if m.GetEvent().GetIndex() == 0 {
			durable++
		} else if d := m.GetEvent().GetArgumentDelta(); d != nil {
			if written = append(written, d.GetText()); len(written) == 1 {
				first()
			}
		}
	}
	return durable, written
}
