package devloop_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/devloop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait, so that a hang fails a test instead of blocking it.
const patience = 2 * time.Minute

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestHowProjectsAreBuilt(t *testing.T) {
	const makefile = "VAR := 1\nbuild: x\n\techo\n"
	for name, tc := range map[string]struct {
		files         []string
		config        devloop.Config
		want, problem string
	}{
		"go":                    {files: []string{"go.mod", "Makefile"}, want: "go build -o /out/NAME ."},
		"go for a debugger":     {files: []string{"go.mod"}, config: devloop.Config{Debug: true}, want: "go build -o /out/NAME -gcflags=./...=-N -l ."},
		"go with a manifest":    {files: []string{"go.mod", "Makefile", "plugin.yaml"}, want: "make build"},
		"make":                  {files: []string{"Makefile"}, want: "make build"},
		"a manifest alone":      {files: []string{"plugin.yaml"}, want: ""},
		"as somebody says":      {files: []string{"go.mod"}, config: devloop.Config{Command: []string{"ninja", "all"}}, want: "ninja all"},
		"nothing to build with": {problem: "name a command with --build"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range tc.files {
				write(t, filepath.Join(dir, file), makefile)
			}
			tc.config.Dir, tc.config.Output = dir, "/out"
			p, err := devloop.Open(tc.config)
			if err != nil || tc.problem != "" {
				if err == nil || tc.problem == "" || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("the error is %v, want %q", err, tc.problem)
				}
				return
			}
			if want := strings.ReplaceAll(tc.want, "NAME", filepath.Base(dir)); p.Command() != want {
				t.Errorf("it is built by %q, want %q", p.Command(), want)
			}
		})
	}
	if _, err := devloop.Open(devloop.Config{Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a folder that does not exist was opened")
	}
}

// shell returns a project whose build command is a shell line.
func shell(t *testing.T, dir, line string) *devloop.Project {
	t.Helper()
	p, err := devloop.Open(devloop.Config{Dir: dir, Command: []string{"/bin/sh", "-c", line}, Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheOnlyPluginIsFound(t *testing.T) {
	dir := t.TempDir()
	p := shell(t, dir, "mkdir -p build && echo data >build/data && cp /bin/sh build/weather")
	if got, err := p.Build(t.Context(), t.Output()); err != nil || got != filepath.Join(dir, "build", "weather") {
		t.Errorf("built is %q, %v", got, err)
	}
	write(t, filepath.Join(dir, "build", "folder", "plugin.yaml"), "")
	if got, err := p.Build(t.Context(), t.Output()); err == nil || !strings.Contains(err.Error(), "2 plugins were found") {
		t.Errorf("of two, built is %q, %v", got, err)
	}
	write(t, filepath.Join(dir, "plugin.yaml"), "")
	if got, err := shell(t, dir, "true").Build(t.Context(), t.Output()); err != nil || got != dir {
		t.Errorf("with a manifest, built is %q, %v", got, err)
	}
}

// builds is a running loop.
type builds struct {
	stop   context.CancelFunc
	begun  chan struct{} // receives a value for each announced build
	seen   chan error    // receives the result of each build
	ended  sync.WaitGroup
	output bytes.Buffer // may be read after the loop has ended
}

func run(t *testing.T, p *devloop.Project) *builds {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	b := &builds{stop: stop, begun: make(chan struct{}, 100), seen: make(chan error, 100)}
	b.ended.Go(func() { // ends with ctx
		p.Run(ctx, &b.output, func() { b.begun <- struct{}{} }, func(_ context.Context, _ string, err error) { b.seen <- err })
	})
	t.Cleanup(b.end)
	return b
}

func (b *builds) end() {
	b.stop()
	b.ended.Wait()
}

func (b *builds) next(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case err := <-b.seen:
		return err
	case <-ctx.Done():
		t.Fatal("nothing is built")
		return nil
	}
}

// A change starts a build, a failed build does not end the loop, and files that the build writes do
// not start another build.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plugin.yaml"), "")
	write(t, filepath.Join(dir, "source"), "true")
	// Each build writes a new file into the repository, and counts itself in a folder that look
	// skips.
	b := run(t, shell(t, dir, "mkdir -p build; date +%N >generated; echo x >>build/count; . ./source"))
	if err := b.next(t); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "source"), "echo what is wrong; false")
	if err := b.next(t); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("a build that fails: %v", err)
	}
	write(t, filepath.Join(dir, "node_modules", "x"), "")
	write(t, filepath.Join(dir, ".git", "x"), "")
	write(t, filepath.Join(dir, "deep", "new file"), "")
	if err := b.next(t); err == nil {
		t.Error("it was not built, or a build that has to fail did not")
	}
	b.end()
	count, err := os.ReadFile(filepath.Join(dir, "build", "count"))
	if err != nil || len(count) != 10 || len(b.begun) != 3 {
		t.Errorf("it was built %d times, %v; want three builds until it is known what they write, and one for each of 2 changes; announced were %d",
			len(count)/2, err, len(b.begun))
	}
	if !strings.Contains(b.output.String(), "what is wrong") {
		t.Errorf("the output is %q", b.output.String())
	}
	select {
	case err := <-b.seen:
		t.Errorf("it was built once more: %v", err)
	default:
	}
}

// A change during a build starts another build. This also holds during a build that such a change
// has started.
func TestAChangeDuringABuildIsBuilt(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plugin.yaml"), "")
	write(t, filepath.Join(dir, "source"), "1")
	// During the first two builds the author continues to write.
	b := run(t, shell(t, dir, `mkdir -p build; n=$(cat source); echo $n >build/made; if [ $n -lt 3 ]; then echo $((n+1)) >source; fi`))
	if err := b.next(t); err != nil {
		t.Fatal(err)
	}
	if made, err := os.ReadFile(filepath.Join(dir, "build", "made")); string(made) != "3\n" {
		t.Errorf("built is %q, %v; want what was written last", made, err)
	}
}

// The end of the loop kills the build and all processes of its group.
func TestTheEndOfTheLoopEndsTheBuild(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plugin.yaml"), "")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	b := run(t, shell(t, dir, "exec 9>"+pipe+"; sleep 1000 & echo begun >&9; wait"))
	holders, err := os.Open(pipe) // Open blocks until the build has opened the pipe
	if err != nil {
		t.Fatal(err)
	}
	defer holders.Close()
	lines := bufio.NewReader(holders)
	if line, err := lines.ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("the build says %q, %v", line, err)
	}
	b.end()
	if len(b.seen) > 0 {
		t.Errorf("a build that was ended is reported: %v", <-b.seen)
	}
	if err := holders.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadByte(); err != io.EOF {
		t.Errorf("what the build started is still there: %v", err)
	}
}
