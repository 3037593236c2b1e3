package intruders_test

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

const (
	tools = "/toolhost.v1.ToolService/"
	admin = "/toolhost.v1.AdminService/"
	runs  = "/agentd.v1.AgentService/"
)

// attack is a request that must not succeed.
type attack struct {
	name        string
	to          string // the listener
	certificate *tls.Certificate
	config      *tls.Config // instead of certificate
	request
	code codes.Code
	// line is what the audit log has about the attack. Reason and Target are parts of the texts. An
	// empty field is any.
	line line
}

// stranger completes an attack of a caller that cannot be identified.
func stranger(to, name, reason string, r request) attack {
	return attack{name: name, to: to, request: r, code: codes.Unauthenticated, line: line{Kind: "authentication", Act: r.method, Reason: reason}}
}

// TestIntruders makes all attacks against one toolhost and one agentd.
func TestIntruders(t *testing.T) {
	w := newWorld(t)
	end := w.work(t)
	attacks := w.strangers(t)
	attacks = append(attacks, w.jwts(t)...)
	attacks = append(attacks, w.certificates(t)...)
	attacks = append(attacks, w.withoutRight()...)
	attacks = append(attacks, w.delegations()...)
	attacks = append(attacks, w.idsOfOthers()...)
	attacks = append(attacks, w.approvals()...)
	attacks = append(attacks, w.runsOfOthers(t)...)
	if len(attacks) < 60 {
		t.Errorf("there are only %d attacks", len(attacks))
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { w.attempt(t, a) })
	}
	t.Run("the work of others goes on", func(t *testing.T) { end(t) })
	for _, file := range []string{"state/audit.jsonl", "agentd/agentd-audit.jsonl"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "toolhost"), "audit", "verify", filepath.Join(w.home, file))
		cmd.Env = []string{"HOME=" + w.home}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if n := w.issuer.visits.Load(); n > 0 {
		t.Errorf("the servers fetched %d documents that tokens named", n)
	}
}

// attempt makes an attack, and checks the answer, its effects and the audit log.
func (w *world) attempt(t *testing.T, a attack) {
	server := "toolhost"
	if a.to == "agentd" {
		server = "agentd"
	}
	executed, before := w.executions(t), len(w.audit(t, server))
	var got answer
	if a.config != nil {
		got = send(t, w.addresses[a.to], a.config, a.request)
	} else {
		got = w.at(t, a.to, a.certificate, a.request)
	}
	if got.code != a.code {
		t.Errorf("the answer is %v %q, want %v", got.code, got.message, a.code)
	}
	if a.code == codes.Unauthenticated && got.message != "the caller is not authenticated" {
		t.Errorf("the stranger learns %q", got.message)
	}
	for _, secret := range append([]string{w.canary, w.handle, w.home}, w.tokens["ada"], w.tokens["boss"]) {
		if strings.Contains(got.all, secret) && !w.sent(t, a, secret) {
			t.Errorf("the answer shows %q: %q", secret, got.all)
		}
	}
	if now := w.executions(t); now != executed {
		t.Errorf("%d calls were executed", now-executed)
	}
	var lines []line
	eventually.Shows(t, "the audit log has no line like "+text(a.line), func() (bool, any) { // a failed handshake is written after its end
		lines = w.audit(t, server)[before:]
		for _, l := range lines {
			if a.line.describes(l) {
				return true, nil
			}
		}
		return false, lines
	})
	for i, l := range lines { // the RPC itself may be permitted before the service refuses what it concerns
		if (l.Decision == "allowed" || l.Decision == "approved") && (l.Kind == "call" || i == len(lines)-1) {
			t.Errorf("the audit log has a permission: %s", text(l))
		}
	}
}

// sent reports whether the intruder itself sent a text.
func (w *world) sent(t *testing.T, a attack, what string) bool {
	t.Helper()
	return strings.Contains(string(frame(t, a.frames...)), what)
}

// describes reports whether the fields of a line that are set match those of another one.
func (l line) describes(other line) bool {
	from := l.From
	if from == "" {
		from = "127.0.0.1"
	}
	return l.Kind == other.Kind && l.Principal == other.Principal && from == other.From && (l.Act == "" || l.Act == other.Act) &&
		(l.Via == "" || l.Via == other.Via) && strings.Contains(other.Reason, l.Reason) && strings.Contains(other.Target+other.Tool, l.Target) &&
		other.Decision != "allowed" && other.Reason != ""
}

func text(l line) string {
	data, err := json.Marshal(l)
	if err != nil {
		panic(err) // strings can be encoded
	}
	return string(data)
}

// call returns a request that executes a tool, in the session s if the options have none: the
// plugin counts the calls of each session.
func call(token, tool, arguments string, options *toolhostv1.CallOptions) request {
	if options == nil {
		options = &toolhostv1.CallOptions{}
	}
	options.Session = cmp.Or(options.GetSession(), "s")
	return request{tools + "Call", bearer(token), []proto.Message{&toolhostv1.CallRequest{Tool: tool, Arguments: []byte(arguments), Options: options}}, nil}
}

// ask returns a request with a token.
func ask(token, method string, m proto.Message) request {
	return request{method, bearer(token), []proto.Message{m}, nil}
}

// work does the work of ada that the attacks are after. end checks that it went on.
func (w *world) work(t *testing.T) (end func(t *testing.T)) {
	t.Helper()
	ok := func(listener string, r request) answer {
		t.Helper()
		a := w.at(t, listener, nil, r)
		if a.code != codes.OK {
			t.Fatalf("%s: %v %s", r.method, a.code, a.message)
		}
		return a
	}
	arguments := `{"key":"` + w.canary + `"}`
	made := ok("tls", call(w.tokens["ada"], "counterplugin_write", arguments, &toolhostv1.CallOptions{CallId: "ada-call", Session: "ada-session", MaxShownBytes: new(uint64(8))}))
	if w.handle = regexp.MustCompile("artifact-[a-z2-7]{26}").FindString(made.all); w.handle == "" {
		t.Fatalf("there is no artifact: %q", made.all)
	}
	refused := w.at(t, "tls", nil, call(w.tokens["ada"], "counterplugin_drop", arguments, nil))
	if refused.code != codes.FailedPrecondition && refused.code != codes.PermissionDenied {
		t.Fatalf("a dangerous tool: %v %s", refused.code, refused.message)
	}
	started := ok("agentd", ask(w.tokens["ada at agentd"], runs+"StartRun", &agentdv1.StartRunRequest{
		RunId: "ada-run", Prompt: w.canary, People: &agentdv1.People{Attended: true},
	}))
	w.run = "red/ada-run"
	if !strings.Contains(started.all, w.run) {
		t.Fatalf("the run is %q", started.all)
	}
	ok("agentd", ask(w.tokens["ada at agentd"], runs+"StartRun", &agentdv1.StartRunRequest{Prompt: "read it", Attachments: w.attachment()})) // it is hers
	ok("agentd", ask(w.tokens["bob at agentd"], runs+"StartRun", &agentdv1.StartRunRequest{RunId: "bob-run", Prompt: "wait"}))
	// its call stays in progress until the body ends
	stop, cancel := io.Pipe()
	hanging := make(chan answer, 1)
	first := frame(t, &toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: &toolhostv1.StartCall{
		Tool: "counterplugin_hang", Arguments: []byte(arguments), Complete: true, Options: &toolhostv1.CallOptions{CallId: "ada-hang", Session: "ada-session"},
	}}})
	go func() { // ends when end cancels the call
		hanging <- w.at(t, "tls", nil, request{tools + "Execute", bearer(w.tokens["ada"]), nil, io.MultiReader(strings.NewReader(string(first)), stop)})
	}()
	eventually.Holds(t, "ada's call is in progress", func() bool { return w.executions(t) == 2 })
	eventually.Holds(t, "ada's run waits for an approval", func() bool {
		return strings.Contains(w.at(t, "agentd", nil, ask(w.tokens["ada at agentd"], runs+"GetRun", &agentdv1.GetRunRequest{RunId: w.run})).all, "d1")
	})
	return func(t *testing.T) {
		run := w.at(t, "agentd", nil, ask(w.tokens["ada at agentd"], runs+"GetRun", &agentdv1.GetRunRequest{RunId: w.run}))
		if run.code != codes.OK || !strings.Contains(run.all, "d1") {
			t.Errorf("the run waits no more: %v %q", run.code, run.all)
		}
		if len(hanging) > 0 {
			t.Errorf("the call has ended: %+v", <-hanging)
			return
		}
		if got := w.at(t, "tls", nil, ask(w.tokens["ada"], tools+"CancelCall", &toolhostv1.CancelCallRequest{CallId: "ada-hang", Session: "ada-session"})); got.code != codes.OK {
			t.Errorf("ada cancels the call: %v %s", got.code, got.message)
		}
		_ = cancel.Close() // the client waits for the end of the body
		<-hanging
	}
}
