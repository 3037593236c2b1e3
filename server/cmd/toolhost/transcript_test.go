package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves a host with the tools of the conformance suite until the test ends.
func start(t *testing.T) (address.Address, *hosttest.Toolhost) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cli")
	if err != nil {
		t.Fatal(err)
	}
	a, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := a.Listen(t.Context(), cli.Toolhost)
	if err != nil {
		t.Fatal(err)
	}
	host := hosttest.New(t, func(c *host.Config) {
		launch := c.Launch
		c.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
			process, err := launch(ctx, p, instance)
			return bounded{process}, err
		}
	}, append(hosttest.Tools(), hosttest.Tool{Spec: tool.Spec{Name: "no name"}})...)
	server := hostserver.NewServer(hostserver.Config{Host: timed{host}})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return a, host
}

// timed is a host in whose statistics each call takes a millisecond.
type timed struct{ *hosttest.Toolhost }

func (h timed) Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	all, err := h.Toolhost.Stats(ctx, q)
	for i := range all {
		s := &all[i]
		s.TotalDuration = time.Duration(s.Calls) * time.Millisecond
		s.MeanDuration, s.P50, s.P99 = time.Millisecond, time.Millisecond, time.Millisecond
	}
	return all, err
}

// bounded is a process in a sandbox and with limits, some of which are not effective.
type bounded struct{ host.Process }

func (bounded) PID() int    { return 4242 }
func (bounded) RSS() uint64 { return 12 << 20 }

func (bounded) Limits() []tool.EffectiveLimit {
	return []tool.EffectiveLimit{
		{Name: "memory", Value: "536870912", Mechanism: "cgroup2"},
		{Name: "processes", Value: "64", Mechanism: "none", Note: "root is not bounded by RLIMIT_NPROC"},
	}
}

func (bounded) Sandbox() tool.Sandbox {
	return tool.Sandbox{Mode: "on", Workspace: tool.AccessRead, Network: true, Write: []string{"/srv/data"}, Layers: []tool.SandboxLayer{
		{Name: "files", Effective: true, Mechanism: "mount namespace"},
		{Name: "landlock", Note: "this kernel has no Landlock"},
	}}
}

// toolhost runs one command line.
func toolhost(ctx context.Context, env map[string]string, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, cli.Process{
		Args: args, Getenv: func(name string) string { return env[name] },
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
	})
	return code, out.String(), errs.String()
}

// unstable lists output that differs between runs.
var unstable = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`unix:///[^ ]*/cli[0-9]+/toolhost.sock`), "ADDRESS"},
	{regexp.MustCompile(`"(duration_ms|uptime_ms)":\d+`), `"$1":0`},
	{regexp.MustCompile(`"(start_time|end_time|time)":"[^"]*"`), `"$1":"TIME"`},
	{regexp.MustCompile(`"version":"` + regexp.QuoteMeta(version.Number) + `","commit":"[^"]*"`), `"version":"VERSION","commit":"COMMIT"`},
	{regexp.MustCompile(`toolhost ` + regexp.QuoteMeta(version.Number) + `\ncommit .*`), "toolhost VERSION\ncommit     COMMIT"},
	{regexp.MustCompile(`uid:\d+`), "uid:ME"},
	{regexp.MustCompile(`/[^ "]*/hosttest[0-9]+/`), "/"},
	{regexp.MustCompile(`PATH +NOTES`), "PATH              NOTES"},
	{regexp.MustCompile(`\bcall-[A-Z0-9]{26}\b`), "call-ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`), `TIME`},
	{regexp.MustCompile(`\b(\d+m)?\d+s ago {2,}`), "0s ago  "},
	{regexp.MustCompile(`\b(\d+m)?\d+s ago`), "0s ago"},
	{regexp.MustCompile(`\b(\d+m)?\d+s +12\.0 MiB`), "0s      12.0 MiB"},
}

// The handles of artifacts, and what stands for them.
var (
	handlePattern = regexp.MustCompile(`artifact-[a-z0-9]{26}`)
	numberPattern = regexp.MustCompile(`artifact-[1-9]\b`)
)

// TestTranscripts runs the commands of each transcript against a new host, and compares their
// output. Commands begin with "$ ". Run the test with -update to write the present output.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := transcribe(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-transcript +now):\n%s", diff)
			}
		})
	}
}

// transcribe runs the commands of a transcript and returns it with their output. It keeps comments,
// after an empty line. $FLEET stands for two toolhosts, of which one does not exist. Lines of
// standard error begin with "! ", and an exit code that is not 0 follows. An instance has a call
// for a moment after its caller has the outcome, so each command waits until no instance has one.
func transcribe(t *testing.T, transcript string) string {
	t.Helper()
	addr, host := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	fleet := "here=" + addr.String() + ",gone=unix:///absent/toolhost.sock"
	var b strings.Builder
	var handles []string // of artifacts; artifact-1 stands for the first
	for line := range strings.Lines(transcript) {
		command, isCommand := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ toolhost")
		if !isCommand {
			if strings.HasPrefix(line, "#") {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(line)
			}
			continue
		}
		b.WriteString(line)
		command = numberPattern.ReplaceAllStringFunc(command, func(number string) string {
			if i := int(number[len(number)-1] - '1'); i < len(handles) {
				return handles[i]
			}
			return number
		})
		eventually.Holds(t, "no instance has a call", func() bool { return !busy(t, host) })
		args, stdin, _ := strings.Cut(strings.ReplaceAll(command, "$FLEET", fleet), " <<< ")
		code, stdout, stderr := toolhost(t.Context(), env, strings.Trim(stdin, "'"), split(t, args)...)
		var shown strings.Builder
		shown.WriteString(stdout)
		for line := range strings.Lines(stderr) {
			shown.WriteString("! " + line)
		}
		out := shown.String()
		for _, u := range unstable {
			out = u.pattern.ReplaceAllString(out, u.instead)
		}
		out = handlePattern.ReplaceAllStringFunc(out, func(handle string) string {
			if !slices.Contains(handles, handle) {
				handles = append(handles, handle)
			}
			return fmt.Sprintf("artifact-%d", slices.Index(handles, handle)+1)
		})
		b.WriteString(out)
		if code != cli.ExitOK {
			fmt.Fprintf(&b, "[exit %d]\n", code)
		}
	}
	return b.String()
}

// busy reports whether an instance has a call.
func busy(t *testing.T, host *hosttest.Toolhost) bool {
	t.Helper()
	instances, err := host.Instances(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(instances, func(i tool.InstanceInfo) bool { return i.Calls > 0 })
}

// split splits a command line into words, as a shell that knows only single quotes.
func split(t *testing.T, line string) []string {
	t.Helper()
	words := []string{}
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		var closed bool
		if rest, quoted := strings.CutPrefix(line, "'"); quoted {
			if word, line, closed = strings.Cut(rest, "'"); !closed {
				t.Fatalf("a quote is not closed in %q", line)
			}
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, word)
	}
	return words
}
