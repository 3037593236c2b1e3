package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// port finds the address of the TLS listener in the line that a server prints when it is ready.
var port = regexp.MustCompile(`127\.0\.0\.1:[0-9]+ \(TLS\)`)

// secured starts a server whose configuration file has the listeners, and returns the address of
// the one with TLS.
func (h *toolhost) secured(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	log := &syncbuf.Buffer{}
	cmd.Stderr = log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			t.Logf("the log of %s:\n%s", cmd.Args[0], log)
		}
	})
	at, found := strings.CutSuffix(port.FindString(line), " (TLS)")
	if !found {
		t.Fatalf("%q names no address with TLS\n%s", line, log)
	}
	return at
}

// listeners returns the keys of a unix socket and a TLS port, at which a certificate or a token
// counts.
func listeners(t *testing.T, ca *testca.CA, socket string) string {
	t.Helper()
	certificate, key := ca.Files(t, "127.0.0.1")
	return fmt.Sprintf(`listen: %q
listeners:
  - address: 127.0.0.1:0
    tls: {certificate: %q, key: %q, client_ca: %q, client_certificate: optional}
    authentication: [certificate, token]
`, socket, certificate, key, ca.Path)
}

// issue creates a token with a command of a program.
func (h *toolhost) issue(t *testing.T, program string, args ...string) string {
	t.Helper()
	r := run(t, command(t.Context(), h.home, nil, program, append([]string{"token", "create"}, args...)...))
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// A program on another machine calls tools with a client certificate and with a token over TLS, and
// starts a run of agentd with each. The tools of the run are called for the same principal. Every
// refusal and every call is in the audit log.
func TestCallersOverTLS(t *testing.T) {
	h, ca, other := prepare(t), testca.New(t), testca.New(t)
	rules := `auth:
  principals:
    - {certificate: "uri:spiffe://acme/ci", tenant: acme, name: machine}
  bindings:
    - {role: admin, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: delegate, principals: ["uid:%[1]d"], tenants: [acme, red]}
    - {role: caller, members_of: [acme, red]}
`
	rules = fmt.Sprintf(rules, os.Getuid())
	putConfiguration(t, h, rules+"audit: {log: all}\n"+listeners(t, ca, h.addr))
	h.grant(t)
	h.allow(t)
	h.trust(t, "toolhost.yaml")
	at := h.secured(t, command(context.Background(), h.home, nil, "toolhost", "serve", "--plugins", h.plugins, "--state", h.state, "--workspace", h.workspace))

	certificate, key := ca.Files(t, "spiffe://acme/ci")
	stolen, stolenKey := other.Files(t, "spiffe://acme/ci")
	token := h.issue(t, "toolhost", "ci", "--tenant", "red", "--state", h.state)
	server := client.TLS{CA: ca.Path}
	ways := map[string]struct {
		principal string // empty: the caller is refused
		options   []client.DialOption
	}{
		"a certificate":        {"acme/machine", []client.DialOption{client.WithTLS(client.TLS{CA: ca.Path, Certificate: certificate, Key: key})}},
		"a token":              {"red/ci", []client.DialOption{client.WithTLS(server), client.WithToken(token)}},
		"nothing":              {"", []client.DialOption{client.WithTLS(server)}},
		"a changed token":      {"", []client.DialOption{client.WithTLS(server), client.WithToken(token[:len(token)-9] + "AAAAAAAAA")}},
		"the CA of an other":   {"", []client.DialOption{client.WithTLS(client.TLS{CA: ca.Path, Certificate: stolen, Key: stolenKey})}},
		"the token of agentd":  {"", []client.DialOption{client.WithTLS(server), client.WithToken("agentd_" + strings.TrimPrefix(token, "toolhost_"))}},
		"a server that is not": {"", []client.DialOption{client.WithTLS(client.TLS{CA: other.Path}), client.WithToken(token)}},
	}
	for name, way := range ways {
		c, err := client.Dial(at, append(way.options, client.IgnoreEnvironment())...)
		if err != nil {
			t.Fatal(err)
		}
		me, err := c.WhoAmI(t.Context())
		if me.Principal != way.principal || (err == nil) != (way.principal != "") {
			t.Errorf("%s: toolhost knows %q, %v", name, me.Principal, err)
		}
		outcome, err := c.Call(t.Context(), tool.Call{Tool: "calculator", Arguments: []byte(`{"expression":"6*7"}`)})
		if (err == nil) != (way.principal != "") || err == nil && !strings.Contains(outcome.Result.Text(), "42") {
			t.Errorf("calling with %s: %+v, %v", name, outcome, err)
		}
		_ = c.Close()
	}
	h.runsOverTLS(t, ca, rules, certificate, key)

	log, err := os.ReadFile(filepath.Join(h.state, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for what, pattern := range map[string]string{
		"the call with the certificate": `"principal":"acme/machine","from":"127.0.0.1".*"tool":"calculator".*"decision":"allowed"`,
		"the call with the token":       `"principal":"red/ci","from":"127.0.0.1".*"tool":"calculator".*"decision":"allowed"`,
		"the new token":                 `"kind":"credential".*"principal":"red/ci".*"act":"token create"`,
		"nothing":                       `"kind":"authentication".*nothing identifies the caller`,
		"the changed token":             `"kind":"authentication".*"reason":"the token .*`,
		"the foreign certificate":       `"kind":"authentication".*TLS handshake.*failed to verify certificate`,
		"the token of agentd":           `"kind":"authentication".*of another program`,
		"the run of the certificate":    fmt.Sprintf(`"principal":"acme/machine","via":"uid:%d".*"tool":"calculator"`, os.Getuid()),
		"the run of the token":          fmt.Sprintf(`"principal":"red/ci","via":"uid:%d".*"tool":"calculator"`, os.Getuid()),
	} {
		if !regexp.MustCompile(pattern).Match(log) {
			t.Errorf("%s is not in the audit log:\n%s", what, log)
		}
	}
}

// runsOverTLS starts an agentd and a run with each credential.
func (h *toolhost) runsOverTLS(t *testing.T, ca *testca.CA, rules, certificate, key string) {
	t.Helper()
	file, state := filepath.Join(h.home, "agentd.yaml"), filepath.Join(h.home, "agentd")
	write(t, file, rules+"state: agentd\n"+listeners(t, ca, "unix://"+filepath.Join(h.home, "a.sock")), 0o600)
	h.trust(t, "agentd.yaml")
	m := newMind(t, func(asked thought) (string, string) {
		if len(asked.Messages) == 2 { // the instructions and the prompt
			return "", call("a", "calculator", `{"expression":"6*7"}`)
		}
		return "done", ""
	})
	at := h.secured(t, command(context.Background(), h.home, nil, "agentd", append([]string{"serve", "--config", file, "--toolhost", h.addr}, m.flags()...)...))
	token := h.issue(t, "agentd", "ci", "--tenant", "red", "--config", file)
	for principal, options := range map[string][]client.DialOption{
		"acme/machine": {client.WithTLS(client.TLS{CA: ca.Path, Certificate: certificate, Key: key})},
		"red/ci":       {client.WithTLS(client.TLS{CA: ca.Path}), client.WithToken(token)},
	} {
		a, err := client.DialAgent(at, append(options, client.IgnoreEnvironment())...)
		if err != nil {
			t.Fatal(err)
		}
		if me, err := a.WhoAmI(t.Context()); err != nil || me.Principal != principal {
			t.Errorf("agentd knows %q, %v; want %s", me.Principal, err, principal)
		}
		id, err := a.StartRun(t.Context(), client.Task{Prompt: "6*7"})
		if err != nil || !strings.HasPrefix(id, strings.Split(principal, "/")[0]+"/") {
			t.Fatalf("the run %q of %s: %v", id, principal, err)
		}
		text := ""
		for e, err := range a.WatchRun(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if finished, ok := e.Payload.(*client.RunEnded); ok {
				text = finished.Text
			}
		}
		if text != "done" {
			t.Errorf("the run of %s ends with %q", principal, text)
		}
		_ = a.Close()
	}
	stranger, err := client.DialAgent(at, client.WithTLS(client.TLS{CA: ca.Path}), client.IgnoreEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.GetRun(t.Context(), "red/run-1"); tool.KindOf(err) != tool.KindUnavailable && tool.KindOf(err) != tool.KindDenied {
		t.Errorf("a caller without a credential: %v", err)
	}
	log, err := os.ReadFile(filepath.Join(state, "agentd-audit.jsonl"))
	if err != nil || !strings.Contains(string(log), "nothing identifies the caller") || !strings.Contains(string(log), "token create") {
		t.Errorf("%v, %s", err, log)
	}
}
