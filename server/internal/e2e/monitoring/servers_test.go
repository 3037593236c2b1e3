//go:build more

package monitoring

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/testkit/agentmessages"
)

// patience bounds each command, so that a hang fails the test and does not stop the run.
const patience = 3 * time.Minute

// site is a toolhost and an agentd with their folders.
type site struct {
	home, bin        string
	toolhost, agentd *server
	tools            *client.Client
	runs             *agentmessages.Client
	metrics          map[string]string // where Prometheus reads them, by job
	collector        string            // the address of the collector for traces, at which nothing listens at first
}

// server is a program that runs. A test may stop it and start it again.
type server struct {
	command func() *exec.Cmd
	cmd     *exec.Cmd
	exited  chan struct{} // closed when the process has ended
	log     syncbuf.Buffer
}

// newSite builds the programs, installs the plugins and starts the servers.
func newSite(t *testing.T, m *model) *site {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "mon-") // short, because the length of a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := &site{home: home, bin: filepath.Join(home, "bin"), metrics: map[string]string{"toolhost": freeAddress(t), "agentd": freeAddress(t)}, collector: freeAddress(t)}
	for dir, packages := range map[string][]string{
		s.bin:                          {"./cmd/toolhost", "./cmd/agentd", "./internal/toolhost/process/fault/faultplugin"},
		filepath.Join(home, "plugins"): {"./plugins/calculator", "./internal/e2e/testplugins/filterplugin"},
	} {
		if err := programs.Build(t.Context(), dir, packages...); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"workspace", "state", "etc"} {
		if err := os.Mkdir(s.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.plugin(t, "fault", "")
	s.plugin(t, "chaosslow", "")
	s.plugin(t, "chaoslaunch", "[ -e "+s.path("bin", "broken")+" ] && exit 3\n")
	s.configure(t, 30)
	s.writes(t, "etc/agentd.yaml", fmt.Sprintf(`
model: m
models: {m: {provider: openai, model: m, base_url: %q, price: {input: 1, output: 1}}}
telemetry: {listen: %q, timeout: 1s, traces: {endpoint: "http://%s"}}
`, m.url, s.metrics["agentd"], s.collector))
	s.toolhost = &server{command: func() *exec.Cmd { return s.onSmallDisk("serve", "--listen", s.socket("t")) }}
	s.agentd = &server{command: func() *exec.Cmd {
		return s.command(context.Background(), "agentd", "serve", "--config", s.path("etc", "agentd.yaml"), "--listen", s.socket("a"), "--toolhost", s.socket("t"), "--journal", s.path("runs.db"))
	}}
	for _, server := range []*server{s.toolhost, s.agentd} {
		server.start(t)
		t.Cleanup(func() {
			server.stop()
			if t.Failed() {
				log := server.log.String()
				t.Logf("the end of the log:\n%s", log[max(0, len(log)-10_000):])
			}
		})
	}
	if s.tools, err = client.Dial(s.socket("t")); err == nil {
		t.Cleanup(func() { s.tools.Close() })
		s.runs, err = agentmessages.Dial(s.socket("a"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.runs.Close() })
	return s
}

func (s *site) path(names ...string) string {
	return filepath.Join(append([]string{s.home}, names...)...)
}

func (s *site) socket(name string) string { return "unix://" + s.path(name+".sock") }

func (s *site) writes(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// plugin installs the fault plugin under another name. before runs at each start of a process.
func (s *site) plugin(t *testing.T, name, before string) {
	t.Helper()
	if err := os.Link(s.path("bin", "faultplugin"), s.path("bin", name)); err != nil {
		t.Fatal(err)
	}
	s.writes(t, filepath.Join("plugins", name), "#!/bin/sh\n"+before+"exec "+s.path("bin", name)+"\n")
}

// configure writes toolhost.yaml. ids is how many ids the ledger can have.
func (s *site) configure(t *testing.T, ids int) {
	t.Helper()
	s.writes(t, "etc/toolhost.yaml", fmt.Sprintf(`
plugins: [%q]
state: %q
workspace: %q
ledger: {max_ids: %d}
telemetry: {listen: %q, timeout: 1s, traces: {endpoint: "http://%s"}}
filters: [{filter: redact, tools: [calculator]}]
tools: {calculator: {cost_per_use: 0.01}}
defaults: {sandbox: {read: [%q]}, quarantine: {crashes: never}, backoff: {initial: 10ms, max: 20ms}}
plugin:
  fault: {quarantine: {crashes: 2, probe_after: never}}
  chaosslow: {max_calls_per_instance: 1, max_queue: 2}
`, s.path("plugins"), s.path("state"), s.path("workspace"), ids, s.metrics["toolhost"], s.collector, s.bin))
}

// command returns a command of a program with a separate environment.
func (s *site) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Env = []string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "TMPDIR=" + s.home, "TOOLHOST_ADDR=" + s.socket("t"), "OPENAI_API_KEY=none"}
	cmd.Dir, cmd.WaitDelay = s.home, 5*time.Second
	return cmd
}

// onSmallDisk returns a command of toolhost that sees a file system of 192 MiB in place of the
// state folder. Only this process and its children see it, and it goes away with them.
func (s *site) onSmallDisk(args ...string) *exec.Cmd {
	flags := []string{"--mount"}
	if os.Getuid() != 0 {
		flags = append(flags, "--map-current-user", "--keep-caps")
	}
	cmd := s.command(context.Background(), "toolhost", args...)
	script := fmt.Sprintf(`mount -t tmpfs -o size=192m,mode=700 tmpfs %s && exec "$@"`, s.path("state"))
	cmd.Args = append(append([]string{"unshare"}, flags...), append([]string{"/bin/sh", "-c", script, "sh", cmd.Path, "--config", s.path("etc", "toolhost.yaml")}, args...)...)
	cmd.Path = "/usr/bin/unshare"
	return cmd
}

// fillDisk fills toolhost's state folder, except for a few percent. The result makes room again.
func (s *site) fillDisk(t *testing.T) (free func()) {
	t.Helper()
	path := fmt.Sprintf("/proc/%d/root%s", s.toolhost.cmd.Process.Pid, s.path("state", "filler"))
	var fs syscall.Statfs_t
	err := syscall.Statfs(filepath.Dir(path), &fs)
	if err == nil {
		err = os.WriteFile(path, make([]byte, int(fs.Bavail)*int(fs.Bsize)-8<<20), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// start starts the program and returns when it is ready.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.cmd = s.command()
	s.cmd.Stderr = &s.log
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready, exited, cmd := make(chan string, 1), make(chan struct{}), s.cmd
	s.exited = exited
	go func() { // ends with the process
		defer close(exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	}()
	if line := <-ready; !strings.Contains(line, "ready at") {
		t.Fatalf("the server says %q\n%s", line, &s.log)
	}
}

// stop stops the program and waits for its end.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.exited
}

// do runs a command of toolhost against the server. The command may fail.
func (s *site) do(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, _ := s.command(ctx, "toolhost", args...).CombinedOutput()
	return string(out)
}
