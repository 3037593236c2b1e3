package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// nodes are three toolhosts, which the operator has named as the fleet prod.
type nodes struct {
	home    string // of the operator
	a, b, c *toolhost
}

// startNodes starts three toolhosts, each with the executables that install adds.
func startNodes(t *testing.T, install func(h *toolhost)) *nodes {
	t.Helper()
	n := &nodes{home: newHome(t), a: prepare(t), b: prepare(t), c: prepare(t)}
	for _, h := range n.all() {
		install(h)
		h.serve(t)
	}
	n.do(t, "target", "add", "prod", "--fleet", "a="+n.a.addr+",b="+n.b.addr+",c="+n.c.addr).exits(t, 0)
	return n
}

func (n *nodes) all() []*toolhost { return []*toolhost{n.a, n.b, n.c} }

// do runs a command of the operator.
func (n *nodes) do(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return run(t, command(ctx, n.home, nil, "toolhost", args...))
}

// fleet runs a command of the operator for the fleet.
func (n *nodes) fleet(t *testing.T, args ...string) result {
	t.Helper()
	return n.do(t, append(args, "--fleet", "--target", "prod")...)
}

// pause stops a toolhost as a debugger or a machine under memory pressure does.
func (h *toolhost) pause(t *testing.T) {
	t.Helper()
	server := h.server(t)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.resume = func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	t.Cleanup(h.resume)
}

// row returns the line of a table that begins with these cells.
func row(r result, cells ...string) string {
	for line := range strings.Lines(r.stdout) {
		if fields := strings.Fields(line); len(fields) >= len(cells) && slices.Equal(fields[:len(cells)], cells) {
			return line
		}
	}
	return ""
}

// A toolhost that was killed and one that is paused neither delay nor hide what the third one
// answers: each command ends, has the rows of the healthy one, and says what became of the others.
func TestFleetWithDeadAndPausedToolhosts(t *testing.T) {
	t.Parallel()
	n := startNodes(t, func(*toolhost) {})
	for name, h := range map[string]*toolhost{"a": n.a, "b": n.b, "c": n.c} {
		n.do(t, "call", "calculator", `{"expression":"1+1"}`, "--call-id", "call-on-"+name, "--target", "prod/"+name).exits(t, 0)
		if c := len(h.known(t)); c != 2 {
			t.Fatalf("%d plugins", c)
		}
	}
	whole := n.fleet(t, "stats")
	whole.exits(t, 0)
	if sum := row(whole, "calculator", "calculator", "all", "3", "3"); sum == "" {
		t.Errorf("the sum of three calls is missing:\n%s", whole.stdout)
	}
	n.b.pause(t)
	if err := n.c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-n.c.exited

	const late, dead = "it did not answer within 5s", "no toolhost answers at "
	var tests sync.WaitGroup
	for _, test := range []struct {
		args  []string
		row   []string // of the healthy toolhost
		error string
	}{
		{[]string{"ps"}, []string{"a", "calculator-1", "calculator", "ready"}, "1 of 3 toolhosts answered"},
		{[]string{"plugins"}, []string{"a", "calculator"}, "1 of 3 toolhosts answered"},
		{[]string{"stats", "calculator"}, []string{"a", "1", "1", "0"}, "1 of 3 toolhosts answered"},
		{[]string{"events", "calculator"}, []string{"a"}, "1 of 3 toolhosts answered"},
		{[]string{"why", "calculator"}, []string{"on", "a:", "calculator"}, "1 of 3 toolhosts answered"},
		{[]string{"why", "call-on-a"}, []string{"a", "call-on-a"}, "1 of 3 toolhosts answered"},
		{[]string{"why", "call-on-c"}, []string{"a", "not", "found"}, `"call-on-c" is unknown on 1 toolhost: it has neither a plugin nor a call of this name; no answer from b, c`},
	} {
		tests.Go(func() {
			r := n.fleet(t, test.args...)
			r.exits(t, 3)
			if row(r, test.row...) == "" {
				t.Errorf("%v: no row %q:\n%s", test.args, test.row, r.stdout)
			}
			if line := row(r, "b", "no", "answer"); !strings.Contains(line, late) {
				t.Errorf("%v: the paused toolhost has the row %q", test.args, line)
			}
			if line := row(r, "c", "no", "answer"); !strings.Contains(line, dead+n.c.addr) {
				t.Errorf("%v: the killed toolhost has the row %q", test.args, line)
			}
			if !strings.Contains(r.stderr, test.error) {
				t.Errorf("%v: the error is %q", test.args, r.stderr)
			}
		})
	}
	tests.Go(func() { n.checkJSON(t) })
	tests.Wait()

	n.b.resume()
	r := n.fleet(t, "why", "call-on-b")
	r.exits(t, 3) // the killed one does not answer
	if row(r, "b", "call-on-b") == "" {
		t.Errorf("the paused toolhost does not answer after SIGCONT:\n%s", r.stdout)
	}
}

// checkJSON checks that programs can tell what became of each toolhost.
func (n *nodes) checkJSON(t *testing.T) {
	r := n.fleet(t, "ps", "-o", "json")
	var view struct {
		Nodes     []struct{ Node, Address, State, Reason string }
		Instances []struct{ Node, Instance, Plugin string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &view); err != nil || r.code != 3 {
		t.Errorf("exit %d, %v: %s", r.code, err, r.stdout)
		return
	}
	states := map[string]string{}
	for _, node := range view.Nodes {
		states[node.Node] = node.State
	}
	if states["a"] != "answered" || states["b"] != "no_answer" || states["c"] != "no_answer" || len(view.Instances) != 1 || view.Instances[0].Node != "a" {
		t.Errorf("%s", r.stdout)
	}
}

// A toolhost that does not let the caller ask says so, and the others answer. Each toolhost decides
// by its own roles.
func TestFleetWithAToolhostThatRefuses(t *testing.T) {
	t.Parallel()
	n := &nodes{home: newHome(t), a: prepare(t), b: prepare(t)}
	write(t, filepath.Join(n.b.home, "toolhost.yaml"), "auth: {bindings: [{role: admin, principals: [ida], tenants: [all]}]}\n", 0o600)
	n.a.serve(t)
	n.b.serve(t)
	r := n.do(t, "plugins", "--fleet", "--addr", "a="+n.a.addr+",b="+n.b.addr)
	r.exits(t, 3)
	if row(r, "a", "calculator") == "" || row(r, "b", "refused") == "" || row(r, "b", "calculator") != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// Following a fleet goes on when one toolhost is killed, and says so.
func TestFollowedFleetLosesAToolhost(t *testing.T) {
	t.Parallel()
	n := startNodes(t, func(*toolhost) {})
	n.do(t, "call", "calculator", `{"expression":"1"}`, "--target", "prod/c").exits(t, 0)
	cmd := command(context.Background(), n.home, nil, "toolhost", "events", "-f", "--fleet", "--target", "prod")
	var out, problems syncbuf.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	shows := func(o *syncbuf.Buffer, node string, words string) func() bool {
		return func() bool {
			for line := range strings.Lines(o.String()) {
				if strings.HasPrefix(line, node) && strings.Contains(line, words) {
					return true
				}
			}
			return false
		}
	}
	eventually.Holds(t, "the events of c are shown", shows(&out, "c ", "instance ready"))
	if err := n.c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the loss of c is said", shows(&problems, "toolhost: c:", ""))
	n.do(t, "call", "calculator", `{"expression":"1"}`, "--target", "prod/a").exits(t, 0)
	eventually.Holds(t, "the events of a are shown", shows(&out, "a ", "instance ready"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("an interrupt is a failure: %v\n%s", err, problems.String())
	}
}

// The audit logs of a fleet are shown as one, ordered by time. A toolhost that does not answer is
// named, and the lines of the others are there.
func TestTheAuditLogsOfAFleet(t *testing.T) {
	t.Parallel()
	n := startNodes(t, func(h *toolhost) {
		write(t, filepath.Join(h.home, "toolhost.yaml"), "audit: {log: all}\n", 0o600)
	})
	var want []string
	for _, node := range []string{"a", "b", "c", "b", "a"} {
		id := "call-" + string(rune('1'+len(want)))
		n.do(t, "call", "calculator", `{"expression":"1+1"}`, "--call-id", id, "--target", "prod/"+node).exits(t, 0)
		want = append(want, node+" "+id)
	}
	shown := func(r result) (found []string) {
		for line := range strings.Lines(r.stdout) {
			var of struct {
				Node string
				Line struct {
					ID string `json:"call_id"`
				}
			}
			if err := json.Unmarshal([]byte(line), &of); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			found = append(found, strings.TrimSpace(of.Node+" "+of.Line.ID))
		}
		return found
	}
	search := []string{"audit", "search", "--tool", "calculator", "-o", "json"}
	r := n.fleet(t, search...)
	if r.exits(t, 0); !slices.Equal(shown(r), want) {
		t.Errorf("%v, want %v", shown(r), want)
	}
	if r := n.fleet(t, append(search, "--last", "3")...); !slices.Equal(shown(r), want[2:]) {
		t.Errorf("the last three: %v, want %v", shown(r), want[2:])
	}
	n.b.stop(t)
	r = n.fleet(t, search...)
	if r.exits(t, 3); !slices.Equal(shown(r), []string{want[0], want[2], want[4], "b"}) {
		t.Errorf("without b: %v", shown(r))
	}
	r = n.fleet(t, "audit", "search", "--tool", "calculator")
	r.says(t, "call-1", "call-3", "no toolhost answers at ", "2 of 3 toolhosts answered")
	if line := row(r, "b", "no", "answer"); line == "" {
		t.Errorf("the table does not name b:\n%s", r.stdout)
	}
	n.fleet(t, "audit", "search", "--file", "x").exits(t, 2)
}
