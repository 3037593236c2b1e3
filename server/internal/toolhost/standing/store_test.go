package standing_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// spec is the tool of the tests. It declares what its arguments are.
var spec = &tool.Spec{Name: "write_file", Metadata: map[string]json.RawMessage{
	tool.KeyArguments: json.RawMessage(`{"path":"path","content":"content","url":"url"}`),
}}

type rig struct {
	*standing.Store
	path  string
	clock *time.Time
}

func open(t *testing.T, path, ledger string) *rig {
	t.Helper()
	return reopen(t, path, ledger, now)
}

// reopen opens a file at a time. With a new approval, it remembers four that have ended.
func reopen(t *testing.T, path, ledger string, at time.Time) *rig {
	t.Helper()
	r := &rig{path: path, clock: &at}
	s, err := standing.Open(t.Context(), standing.Config{Path: path, Ledger: ledger, Now: func() time.Time { return *r.clock }, MaxEnded: 5})
	if err != nil {
		t.Fatal(err)
	}
	r.Store = s
	t.Cleanup(func() { s.Close() })
	return r
}

func newRig(t *testing.T) *rig {
	return open(t, filepath.Join(t.TempDir(), "state", standing.File), "one")
}

// proposal returns a proposal of an approval of calls that write below docs.
func proposal(change func(*tool.ApprovalRequest, *tool.StandingApproval)) standing.Proposal {
	r := &tool.ApprovalRequest{
		RequestID: "decision-1", Principal: "red/ada", Tool: "write_file", Arguments: []byte(`{"path":"docs/a.md","content":"x","mode":1}`),
		Scope: tool.ScopePrincipal, Patterns: []tool.ArgumentPattern{{Argument: "path", PathPrefix: "docs"}, {Argument: "content", Any: true}},
	}
	a := tool.StandingApproval{
		Principal: "red/ada", Via: "agentd", Agent: "writer", Tool: "write_file", Plugin: "fs", DefinitionSHA256: "d1", Scope: tool.ScopePrincipal,
		Approver: "red/ada", Expires: now.Add(time.Hour),
	}
	if change != nil {
		change(r, &a)
	}
	return standing.Proposal{Request: r, Approval: a, Spec: spec, Limits: standing.Limits{PerPrincipal: 3, PerTenant: 4}}
}

func (r *rig) create(t *testing.T, change func(*tool.ApprovalRequest, *tool.StandingApproval)) tool.StandingApproval {
	t.Helper()
	a, created, err := r.Create(t.Context(), proposal(change))
	if err != nil || !created {
		t.Fatalf("created %v: %v", created, err)
	}
	return a
}

// call returns a call that the approval of proposal approves.
func call(text string, change func(*standing.Call)) standing.Call {
	c := standing.Call{Principal: "red/ada", Via: "agentd", Agent: "writer", Tool: "write_file", Run: "run-1", Session: "s", Definition: func() string { return "d1" }}
	c.Object = func() map[string]any {
		p, err := arguments.Parse([]byte(text))
		if err != nil {
			panic(err)
		}
		return p.Object()
	}
	if change != nil {
		change(&c)
	}
	return c
}

const below = `{"content":"y","mode":1,"path":"docs/b/c.md"}`

// The approved call may be spelled in another way than those that the pattern permits.
func TestApprovedCallInAnotherSpelling(t *testing.T) {
	r := newRig(t)
	r.create(t, func(q *tool.ApprovalRequest, _ *tool.StandingApproval) {
		q.Arguments = []byte(`{"path":"./docs//a.md","content":"x","mode":1}`)
	})
	for path, want := range map[string]bool{"docs/a.md": true, "docs/b.md": true, "./docs//a.md": false} {
		if _, ok := r.Match(call(`{"path":"`+path+`","content":"y","mode":1}`, nil)); ok != want {
			t.Errorf("%s matches: %v", path, ok)
		}
	}
}

// Every binding of an approval has to fit. Each line is an attack that changes one thing.
func TestMatch(t *testing.T) {
	r := newRig(t)
	want := r.create(t, nil)
	if got, ok := r.Match(call(below, nil)); !ok || got.ID != want.ID {
		t.Fatalf("the call is not approved: %+v", got)
	}
	for name, c := range map[string]standing.Call{
		"another principal":       call(below, func(c *standing.Call) { c.Principal = "red/eve" }),
		"another tenant":          call(below, func(c *standing.Call) { c.Principal = "blue/ada" }),
		"the default tenant":      call(below, func(c *standing.Call) { c.Principal = "ada" }),
		"another agent":           call(below, func(c *standing.Call) { c.Agent = "Writer" }),
		"no agent":                call(below, func(c *standing.Call) { c.Agent = "" }),
		"no delegate":             call(below, func(c *standing.Call) { c.Via = "" }),
		"another delegate":        call(below, func(c *standing.Call) { c.Via = "eve" }),
		"another tool":            call(below, func(c *standing.Call) { c.Tool = "edit_file" }),
		"another rule":            call(below, func(c *standing.Call) { c.Rule = "new" }),
		"another definition":      call(below, func(c *standing.Call) { c.Definition = func() string { return "d2" } }),
		"another path":            call(`{"content":"y","mode":1,"path":"src/b"}`, nil),
		"a path above":            call(`{"content":"y","mode":1,"path":"docs/../b"}`, nil),
		"a name that begins so":   call(`{"content":"y","mode":1,"path":"docsb"}`, nil),
		"another value":           call(`{"content":"y","mode":2,"path":"docs/b"}`, nil),
		"another form of number":  call(`{"content":"y","mode":1.0,"path":"docs/b"}`, nil),
		"a text for a number":     call(`{"content":"y","mode":"1","path":"docs/b"}`, nil),
		"null":                    call(`{"content":"y","mode":null,"path":"docs/b"}`, nil),
		"one argument less":       call(`{"content":"y","path":"docs/b"}`, nil),
		"no argument of a form":   call(`{"content":"y","mode":1}`, nil),
		"one argument more":       call(`{"content":"y","mode":1,"path":"docs/b","force":true}`, nil),
		"a key in another case":   call(`{"content":"y","mode":1,"Path":"/etc/passwd"}`, nil),
		"a key in two cases":      call(`{"content":"y","mode":1,"path":"docs/b","Path":"/etc/passwd"}`, nil),
		"a list in place of text": call(`{"content":"y","mode":1,"path":["docs/b"]}`, nil),
		"no arguments":            call(`{}`, nil),
	} {
		if got, ok := r.Match(c); ok {
			t.Errorf("%s: approved by %+v", name, got)
		}
	}
	*r.clock = now.Add(time.Hour)
	if _, ok := r.Match(call(below, nil)); ok || r.InForce(want.ID) {
		t.Error("it approves when its time is over")
	}
}

func TestScopes(t *testing.T) {
	r := newRig(t)
	run := r.create(t, func(q *tool.ApprovalRequest, a *tool.StandingApproval) {
		q.RequestID, q.Scope, q.AnyArguments, q.Patterns = "run", tool.ScopeRun, true, nil
		a.Scope, a.Run, a.AnyArguments = tool.ScopeRun, "run-1", true
	})
	if run.Arguments != nil {
		t.Errorf("it keeps arguments: %s", run.Arguments)
	}
	session := r.create(t, func(q *tool.ApprovalRequest, a *tool.StandingApproval) {
		q.RequestID, q.Scope = "session", tool.ScopeSession
		a.Scope, a.Session, a.Agent = tool.ScopeSession, "s", ""
	})
	for _, test := range []struct {
		text   string
		change func(*standing.Call)
		want   string
	}{
		{`{"anything":[1]}`, nil, run.ID},
		{below, func(c *standing.Call) { c.Run = "run-2" }, ""},
		{below, func(c *standing.Call) { c.Run = "" }, ""},
		{below, func(c *standing.Call) { c.Agent = "" }, session.ID},
		{below, func(c *standing.Call) { c.Agent, c.Run = "", "run-7" }, session.ID},
		{below, func(c *standing.Call) { c.Agent, c.Session = "", "" }, ""},
		{below, func(c *standing.Call) { c.Agent, c.Session = "", "S" }, ""},
		{`{"anything":1}`, func(c *standing.Call) { c.Agent = "" }, ""},
	} {
		if got, _ := r.Match(call(test.text, test.change)); got.ID != test.want {
			t.Errorf("%s is approved by %+v, want %q", test.text, got, test.want)
		}
	}
}

// A request can be repeated, and creates one approval, also after that has ended.
func TestCreateIsIdempotent(t *testing.T) {
	r := newRig(t)
	first := r.create(t, nil)
	again, created, err := r.Create(t.Context(), proposal(nil))
	if err != nil || created || again.ID != first.ID {
		t.Errorf("again: %+v, %v, %v", again, created, err)
	}
	if _, first, err := r.Revoke(t.Context(), first.ID, "red/olga"); err != nil || !first {
		t.Fatal(err)
	}
	r.Close()
	r = open(t, r.path, "one")
	again, created, err = r.Create(t.Context(), proposal(nil))
	if err != nil || created || again.End != tool.ApprovalRevoked || again.RevokedBy != "red/olga" {
		t.Errorf("after the end: %+v, %v, %v", again, created, err)
	}
	for name, change := range map[string]func(*tool.ApprovalRequest, *tool.StandingApproval){
		"other arguments": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) {
			q.Arguments = []byte(`{"path":"docs/a.md","content":"x","mode":2}`)
		},
		"another pattern": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns[0].PathPrefix = "." },
		"another agent":   func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Agent = "reader" },
		"another date":    func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Expires = now.Add(time.Minute) },
	} {
		if _, _, err := r.Create(t.Context(), proposal(change)); tool.KindOf(err) != tool.KindConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	if other := r.create(t, func(_ *tool.ApprovalRequest, a *tool.StandingApproval) { a.Principal = "blue/ada" }); other.ID == first.ID {
		t.Error("two principals have the same approval")
	}
}

// A caller leaves at any moment of its request. When it repeats the request, the answer is the
// approval.
func TestCreateAfterItsCallerLeft(t *testing.T) {
	r := newRig(t)
	for i := range 300 {
		p := proposal(func(request *tool.ApprovalRequest, _ *tool.StandingApproval) {
			request.RequestID = fmt.Sprint("decision-", i)
		})
		ctx, leave := context.WithCancel(t.Context())
		p.Permit = func(tool.StandingApproval) error {
			go leave() // ends at once
			return nil
		}
		_, _, first := r.Create(ctx, p)
		leave()
		p.Permit = nil
		a, _, err := r.Create(t.Context(), p)
		if err != nil {
			t.Fatalf("the repeated request %d fails: %v; the first one ended with %v", i, err, first)
		}
		if _, _, err := r.Revoke(t.Context(), a.ID, "red/ada"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	r := newRig(t)
	for name, change := range map[string]func(*tool.ApprovalRequest, *tool.StandingApproval){
		"a pattern that does not match":   func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns[0].PathPrefix = "src" },
		"a pattern of no argument":        func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns[0].Argument = "url" },
		"two patterns of an argument":     func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns[1] = q.Patterns[0] },
		"any value of what is no content": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns[1].Argument = "mode" },
		"any arguments for long":          func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.AnyArguments, q.Patterns = true, nil },
		"any arguments with a pattern": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) {
			q.AnyArguments, q.Scope = true, tool.ScopeRun
		},
		"arguments that are no object": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Arguments = []byte(`[1]`) },
		"arguments that nobody reads": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) {
			q.Arguments = fmt.Appendf(nil, `{"path":"docs/a","content":"x","data":%q}`, strings.Repeat("x", 70<<10))
		},
		"too many patterns": func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.Patterns = make([]tool.ArgumentPattern, 33) },
	} {
		if a, _, err := r.Create(t.Context(), proposal(change)); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	refused := errors.New("the audit log is full")
	p := proposal(nil)
	p.Permit = func(tool.StandingApproval) error { return refused }
	if _, _, err := r.Create(t.Context(), p); !errors.Is(err, refused) || r.Len() != 0 {
		t.Errorf("without a permission: %v, %d", err, r.Len())
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	create := func(principal, id string) error {
		_, _, err := r.Create(t.Context(), proposal(func(q *tool.ApprovalRequest, a *tool.StandingApproval) { q.RequestID, a.Principal = id, principal }))
		return err
	}
	var first tool.StandingApproval
	for i := range 3 {
		if err := create("red/ada", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := create("red/ada", "3"); tool.KindOf(err) != tool.KindRateLimited || !strings.Contains(err.Error(), "per_principal") {
		t.Errorf("the fourth of a principal: %v", err)
	}
	if err := create("red/eve", "0"); err != nil {
		t.Fatal(err)
	}
	if err := create("red/eve", "1"); tool.KindOf(err) != tool.KindRateLimited || !strings.Contains(err.Error(), "per_tenant") {
		t.Errorf("the fifth of a tenant: %v", err)
	}
	if err := create("blue/ada", "0"); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	first = r.All(func(a *tool.StandingApproval) bool { return a.Principal == "red/ada" })[0]
	if _, _, err := r.Revoke(t.Context(), first.ID, "red/ada"); err != nil {
		t.Fatal(err)
	}
	if err := create("red/ada", "3"); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

func TestApprovalsSurvive(t *testing.T) {
	r := newRig(t)
	kept := r.create(t, nil)
	revoked := r.create(t, func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = "decision-2" })
	if _, _, err := r.Revoke(t.Context(), revoked.ID, "red/ada"); err != nil {
		t.Fatal(err)
	}
	before := r.All(func(*tool.StandingApproval) bool { return true })
	r.Close()
	r = open(t, r.path, "one")
	if diff := cmp.Diff(before, r.All(func(*tool.StandingApproval) bool { return true })); diff != "" {
		t.Error(diff)
	}
	if got, ok := r.Match(call(below, nil)); !ok || got.ID != kept.ID || r.InForce(revoked.ID) {
		t.Errorf("%+v approves", got)
	}
	if _, ok := r.Match(call(`{"content":"y","mode":1,"path":"docs/a b"}`, nil)); !ok {
		t.Error("what the tool declared is forgotten")
	}
	if info, err := os.Stat(r.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
}

// A restored or replaced ledger ends all approvals, and they stay ended.
func TestAnotherLedgerEndsAll(t *testing.T) {
	r := newRig(t)
	a := r.create(t, nil)
	r.Close()
	r = open(t, r.path, "two")
	restored := r.Unreported()
	if len(restored) != 1 || restored[0].ID != a.ID || restored[0].End != tool.ApprovalRestored || r.InForce(a.ID) {
		t.Errorf("%+v ended", restored)
	}
	r.Close()
	if r = open(t, r.path, "one"); r.Len() != 0 {
		t.Errorf("with the former ledger, %d are in force", r.Len())
	}
}

func TestDamagedFile(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) { write(t, path, strings.Repeat("garbage ", 1000)) },
		"a trigger": func(t *testing.T, path string) {
			execute(t, path, "CREATE TRIGGER back AFTER UPDATE ON approvals BEGIN UPDATE approvals SET ended = 0; END")
		},
		"another principal": func(t *testing.T, path string) { execute(t, path, "UPDATE approvals SET principal = 'red/eve'") },
		"no JSON":           func(t *testing.T, path string) { execute(t, path, "UPDATE approvals SET data = X'78'") },
		"in force again":    func(t *testing.T, path string) { execute(t, path, "UPDATE approvals SET expires = expires + 1") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.create(t, nil)
			r.Close()
			damage(t, r.path)
			r = open(t, r.path, "one")
			if r.Len() != 0 {
				t.Errorf("%d are in force", r.Len())
			}
			if _, err := os.Stat(r.path + ".damaged"); err != nil {
				t.Error(err)
			}
			r.create(t, nil)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A revocation that cannot be written holds in this process, and is written with the next end.
func TestRevocationThatCannotBeWritten(t *testing.T) {
	r := newRig(t)
	a := r.create(t, nil)
	b := r.create(t, func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = "decision-2" })
	execute(t, r.path, "CREATE TRIGGER full BEFORE UPDATE ON approvals BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
	if _, _, err := r.Revoke(t.Context(), a.ID, "red/ada"); tool.KindOf(err) != tool.KindUnavailable || r.InForce(a.ID) {
		t.Errorf("%v, in force: %v", err, r.InForce(a.ID))
	}
	execute(t, r.path, "DROP TRIGGER full")
	if _, _, err := r.Revoke(t.Context(), b.ID, "red/ada"); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if r = open(t, r.path, "one"); r.Len() != 0 {
		t.Errorf("%d are in force after a restart", r.Len())
	}
}

// A revocation takes effect while another approval is being written, which may wait for a disk.
func TestRevocationDoesNotWait(t *testing.T) {
	r := newRig(t)
	a := r.create(t, nil)
	writing, written := make(chan struct{}), make(chan struct{})
	var creation, revocation sync.WaitGroup
	p := proposal(func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = "decision-2" })
	p.Permit = func(tool.StandingApproval) error {
		close(writing)
		<-written
		return nil
	}
	creation.Go(func() {
		if _, _, err := r.Create(context.Background(), p); err != nil {
			t.Error(err)
		}
	})
	<-writing
	revocation.Go(func() {
		if _, first, err := r.Revoke(context.Background(), a.ID, "red/ada"); err != nil || !first {
			t.Errorf("%v, %v", first, err)
		}
	})
	eventually.Holds(t, "the approval has ended", func() bool { return !r.InForce(a.ID) })
	close(written)
	creation.Wait()
	revocation.Wait()
	r.Close()
	if r = open(t, r.path, "one"); r.InForce(a.ID) || r.Len() != 1 {
		t.Errorf("%d are in force after a restart", r.Len())
	}
}

// The digest of a definition takes long to compute. One call needs it once.
func TestMatchAsksForTheDefinitionOnce(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a", "b", "c"} {
		r.create(t, func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = id })
	}
	asked := 0
	c := call(`{"path":"src/a","content":"x"}`, nil)
	c.Definition = func() string { asked++; return "" }
	if _, ok := r.Match(c); ok || asked != 1 {
		t.Errorf("matched %v, asked %d times", ok, asked)
	}
}

func TestNext(t *testing.T) {
	r := newRig(t)
	expires, changed := r.Next()
	if !expires.IsZero() {
		t.Errorf("without approvals, %v expires", expires)
	}
	a := r.create(t, nil)
	<-changed
	if expires, changed = r.Next(); !expires.Equal(a.Expires) {
		t.Errorf("%v, want %v", expires, a.Expires)
	}
	if _, _, err := r.Revoke(t.Context(), a.ID, "x"); err != nil {
		t.Fatal(err)
	}
	<-changed
}

// killed is the variable with the path for the process that TestKill starts and kills.
const killed = "STANDING_TEST_KILLED"

// TestKilledProcess is the process of TestKill: it creates approvals, revokes every second one, and
// says so, until it is killed.
func TestKilledProcess(t *testing.T) {
	path := os.Getenv(killed)
	if path == "" {
		return // TestKill runs it
	}
	r := open(t, path, "one")
	for i := 0; ; i++ {
		p := proposal(func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = fmt.Sprint(i) })
		p.Limits = standing.Limits{PerPrincipal: 1 << 20, PerTenant: 1 << 20}
		a, _, err := r.Create(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("created", a.ID)
		if i%2 == 0 {
			continue
		}
		if _, _, err := r.Revoke(t.Context(), a.ID, "red/ada"); err != nil {
			t.Fatal(err)
		}
		fmt.Println("revoked", a.ID)
	}
}

// What a process said before kill -9 is there afterwards: no approval is lost, and none that was
// revoked is in force.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), standing.File)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
	cmd.Env = append(os.Environ(), killed+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inForce := map[string]bool{}
	for range 60 {
		var verb, id string
		if _, err := fmt.Fscanln(out, &verb, &id); err != nil {
			t.Fatal(err)
		}
		inForce[id] = verb == "created"
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for { // lines that it wrote before it died
		var verb, id string
		if _, err := fmt.Fscanln(out, &verb, &id); err != nil {
			break
		}
		inForce[id] = verb == "created"
	}
	_ = cmd.Wait() // it was killed
	r := open(t, path, "one")
	last := 0
	for id, want := range inForce {
		if r.InForce(id) == want {
			continue
		}
		if last++; !want || last > 1 { // the last revocation may have been written, and not said
			t.Errorf("%s is in force: %v", id, !want)
		}
	}
}
