//go:build more

package database_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/testkit/agentmessages"
)

// bin is the folder with toolhost, agentd and plugins/counterplugin.
var bin string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if bin, err = os.MkdirTemp("", "toolhost-database-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	ctx := context.Background()
	if err := programs.Build(ctx, bin, "./cmd/toolhost", "./cmd/agentd"); err != nil {
		return 0, err
	}
	if err := programs.Build(ctx, filepath.Join(bin, "plugins"), "./internal/e2e/testplugins/counterplugin"); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// home is the folder of one test with what it runs.
type home struct {
	t   *testing.T
	dir string
	db  *postgrestest.Server
}

func newHome(t *testing.T) *home {
	t.Helper()
	db := postgrestest.Start(t)
	dir, err := os.MkdirTemp("/tmp", "database-") // the length of a socket path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, db: db}
	h.start("toolhost", nil, "serve", "--listen", h.socket("t"), "--plugins", filepath.Join(bin, "plugins"),
		"--state", filepath.Join(dir, "state"), "--workspace", filepath.Join(dir, "workspace"))
	return h
}

func (h *home) socket(name string) string { return "unix://" + filepath.Join(h.dir, name+".sock") }

func (h *home) command(name string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.Env = h.dir, append([]string{"HOME=" + h.dir, "PATH=/usr/bin:/bin", "TMPDIR=" + h.dir, "USER=tester"}, env...)
	return cmd
}

// server is a started program.
type server struct {
	cmd    *exec.Cmd
	log    *syncbuf.Buffer
	exited <-chan struct{}
}

func (s *server) end(signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal) // fails if the process has exited
	<-s.exited
}

// start starts a server, and stops it at the end of the test.
func (h *home) start(name string, env []string, args ...string) *server {
	h.t.Helper()
	s := &server{cmd: h.command(name, env, args...), log: &syncbuf.Buffer{}}
	s.cmd.Stderr = s.log
	line, exited, err := programs.Start(s.cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	s.exited = exited
	h.t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if h.t.Failed() {
			h.t.Logf("%s's log:\n%s", name, s.log)
		}
	})
	if !strings.Contains(line, "ready at") && !strings.Contains(line, "unix://") {
		h.t.Fatalf("%s says %q\n%s", name, line, s.log)
	}
	return s
}

// calls is the number of calls of each run of the script.
const calls = 12

// script writes a scripted model whose runs make calls with side effects.
func (h *home) script() string {
	h.t.Helper()
	var text strings.Builder
	text.WriteString("turns:\n")
	for i := range calls {
		fmt.Fprintf(&text, "  - delay: 50ms\n    calls:\n      - tool: counterplugin_write\n        arguments: {key: k%d}\n", i)
	}
	text.WriteString("  - text: done\n")
	path := filepath.Join(h.dir, "script.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) serve(script string) *server {
	h.t.Helper()
	return h.start("agentd", nil, "serve", "--listen", h.socket("a"), "--toolhost", h.socket("t"), "--journal", h.db.URL("postgres"), "--model", "scripted:"+script)
}

func (h *home) dial() *agentmessages.Client {
	h.t.Helper()
	c, err := agentmessages.Dial(h.socket("a"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// healthy waits until agentd's health checks have an answer.
func (h *home) healthy(want healthv1.HealthCheckResponse_ServingStatus) {
	h.t.Helper()
	conn, err := grpc.NewClient(h.socket("a"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	eventually.Shows(h.t, "agentd's health is "+want.String(), func() (bool, any) {
		resp, err := healthv1.NewHealthClient(conn).Check(h.t.Context(), &healthv1.HealthCheckRequest{Service: agentdv1.AgentService_ServiceDesc.ServiceName})
		return err == nil && resp.GetStatus() == want, fmt.Sprint(resp, err)
	})
}

// executed returns how often each call of a session was executed.
func (h *home) executed(session string) map[string]int {
	counts := make(map[string]int)
	data, _ := os.ReadFile(filepath.Join(h.dir, "workspace", session)) // the first call creates it
	for line := range strings.Lines(string(data)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// Runs go on while PostgreSQL is restarted, crashes and is away, and while agentd is killed. Each
// call is executed exactly once.
func TestRestartsUnderRuns(t *testing.T) {
	h := newHome(t)
	script := h.script()
	agentd := h.serve(script)
	c := h.dial()
	const runs = 4
	session := func(i int) string { return fmt.Sprint("session-", i) }
	for i := range runs {
		if _, err := c.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: fmt.Sprint("r", i), Session: session(i)}); err != nil {
			t.Fatal(err)
		}
	}
	reached := func(n int) {
		t.Helper()
		eventually.Shows(t, fmt.Sprintf("each run has made %d calls", n), func() (bool, any) {
			var all []int
			enough := true
			for i := range runs {
				all = append(all, len(h.executed(session(i))))
				enough = enough && all[i] >= n
			}
			return enough, all
		})
	}
	reached(2)
	h.db.Restart(t)
	reached(4)
	h.db.Kill()
	eventually.Holds(t, "agentd says that the database is gone", func() bool { return strings.Contains(agentd.log.String(), "the database is gone") })
	h.healthy(healthv1.HealthCheckResponse_NOT_SERVING)
	h.db.Resume(t)
	eventually.Holds(t, "agentd says that the database is back", func() bool { return strings.Contains(agentd.log.String(), "the database is back") })
	h.healthy(healthv1.HealthCheckResponse_SERVING)
	reached(6)
	agentd.end(syscall.SIGKILL)
	h.db.Restart(t)
	h.serve(script)
	c = h.dial()
	for i := range runs {
		id := fmt.Sprint("r", i)
		eventually.Shows(t, "the run "+id+" has ended", func() (bool, any) {
			run, err := c.GetRun(t.Context(), id)
			return err == nil && run.GetState() == agentdv1.RunState_RUN_STATE_FINISHED, fmt.Sprintf("%v %v", run, err)
		})
		run, err := c.GetRun(t.Context(), id)
		if err != nil || run.GetStopReason() != agentdv1.StopReason_STOP_REASON_END_TURN {
			t.Errorf("run %s: %v, %v", id, run, err)
		}
		executed := h.executed(session(i))
		if len(executed) != calls {
			t.Errorf("run %s made %d calls, want %d", id, len(executed), calls)
		}
		for call, n := range executed {
			if n != 1 {
				t.Errorf("call %s of run %s was executed %d times", call, id, n)
			}
		}
	}
}

// Two agentds share a database. If one is killed or stopped, the other one goes on with its runs,
// and each call is executed exactly once, also if the stopped one continues.
func TestTwoAgentds(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			script := h.script()
			first := h.serve(script)
			h.start("agentd", nil, "serve", "--listen", h.socket("b"), "--toolhost", h.socket("t"), "--journal", h.db.URL("postgres"), "--model", "scripted:"+script)
			if _, err := h.dial().StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "the run has made calls", func() bool { return len(h.executed("s")) >= 2 })
			if err := first.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			other, err := agentmessages.Dial(h.socket("b"))
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			ended := func() (bool, any) {
				run, err := other.GetRun(t.Context(), "r")
				return err == nil && run.GetState() == agentdv1.RunState_RUN_STATE_FINISHED && run.GetStopReason() == agentdv1.StopReason_STOP_REASON_END_TURN, fmt.Sprint(run, err)
			}
			eventually.Shows(t, "the run has ended at the other agentd", ended)
			if signal == syscall.SIGSTOP {
				_ = first.cmd.Process.Signal(syscall.SIGCONT)
				eventually.Holds(t, "the first one has found that it lost the run", func() bool { return strings.Contains(first.log.String(), "run stopped before its end") })
				if holds, run := ended(); !holds {
					t.Errorf("afterwards: %v", run)
				}
			}
			executed := h.executed("s")
			for call, n := range executed {
				if n != 1 {
					t.Errorf("call %s was executed %d times", call, n)
				}
			}
			if len(executed) != calls {
				t.Errorf("%d calls, want %d", len(executed), calls)
			}
		})
	}
}

// A server serves a database, other commands read it, and no command shows a password or takes
// one.
func TestCommands(t *testing.T) {
	h := newHome(t)
	script := h.script()
	agentd := h.serve(script)
	c := h.dial()
	if _, err := c.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	h.db.Do(t, "postgres", "CREATE ROLE reader LOGIN SUPERUSER PASSWORD 's3same'")
	reader := strings.Replace(h.db.URL("postgres"), "postgres@", "reader@", 1)
	withPassword := strings.Replace(reader, "reader@", "reader:s3same@", 1)
	for _, test := range []struct {
		want string
		env  []string
		args []string
	}{
		{"r ", []string{"PGPASSWORD=s3same"}, []string{"runs", "--journal", reader}},
		{" live ", []string{"PGPASSWORD=s3same"}, []string{"nodes", "--journal", reader}},
		{"password", nil, []string{"runs", "--journal", reader}},
		{"put it into the variable PGPASSWORD", nil, []string{"runs", "--journal", withPassword}},
		{"use an `agentd serve` of the database", []string{"PGPASSWORD=s3same"}, []string{"run", "--toolhost", h.socket("t"), "--journal", reader, "--model", "scripted:" + script, "hello"}},
		{"use an `agentd serve` of the database", []string{"PGPASSWORD=s3same"}, []string{"backup", "--journal", reader, h.dir}},
		{"would not always be encrypted", nil, []string{"runs", "--journal", "postgres://ada@db.example/runs?sslmode=prefer"}},
	} {
		out, err := h.command("agentd", test.env, test.args...).CombinedOutput()
		if !strings.Contains(string(out), test.want) {
			t.Errorf("agentd %s: %v\n%s\nwant %q", strings.Join(test.args, " "), err, out, test.want)
		}
		if strings.Contains(string(out), "s3same") {
			t.Errorf("agentd %s shows the password:\n%s", strings.Join(test.args, " "), out)
		}
	}
	agentd.end(syscall.SIGTERM)
}

// The statements of docs/postgresql.md create a database in which agentd can work, with a password
// of a file, and its configuration is accepted.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, rest, found := strings.Cut(string(page), "```"+language+"\n")
		text, _, closed := strings.Cut(rest, "```")
		if !found || !closed {
			t.Fatalf("the page has no %s", language)
		}
		return text
	}
	h := newHome(t)
	for statement := range strings.SplitSeq(strings.TrimSpace(block("sql")), ";\n") {
		h.db.Do(t, "postgres", statement)
	}
	passwords, ca := filepath.Join(h.dir, "passwords"), testca.New(t)
	if err := os.WriteFile(passwords, []byte("*:*:*:agentd:choose-a-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string, text *string) {
		if !strings.Contains(*text, old) {
			t.Fatalf("the page does not have %q", old)
		}
		*text = strings.Replace(*text, old, new, 1)
	}
	config := block("yaml")
	replace("/etc/agentd/database-ca.pem", ca.Path, &config)
	replace("/etc/agentd/database-password", passwords, &config)
	check := filepath.Join(h.dir, "checked.yaml")
	if err := os.WriteFile(check, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := h.command("agentd", nil, "config", "check", check).CombinedOutput(); err != nil {
		t.Errorf("the configuration: %v\n%s", err, out)
	}
	// The server of the test is at a socket, and not at db.example.
	replace("@db.example/agentd?", "@/agentd?host="+url.QueryEscape(h.db.Folder())+"&", &config)
	served := filepath.Join(h.dir, "served.yaml")
	if err := os.WriteFile(served, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start("agentd", nil, "serve", "--config", served, "--listen", h.socket("a"), "--toolhost", h.socket("t"), "--model", "scripted:"+h.script())
	if _, err := h.dial().StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if out, err := h.command("agentd", nil, "runs", "--config", served).CombinedOutput(); err != nil || !strings.Contains(string(out), "r ") {
		t.Errorf("agentd runs: %v\n%s", err, out)
	}
}
