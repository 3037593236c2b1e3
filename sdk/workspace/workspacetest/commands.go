package workspacetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// NewCommands returns an empty workspace and what runs its commands, and closes it at the end of
// the test. The machine must have the programs of a POSIX system.
type NewCommands func(t *testing.T) (workspace.Workspace, workspace.Commands)

// RunCommands runs the suite for implementations of workspace.Commands.
func RunCommands(t *testing.T, open NewCommands) {
	s := commandSuite{open}
	for name, test := range map[string]func(*testing.T){
		"Exits":     s.testExits,
		"Input":     s.testInput,
		"Folder":    s.testFolder,
		"Refuses":   s.testRefuses,
		"Cancelled": s.testCancelled,
		"Left":      s.testLeft,
		"Large":     s.testLarge,
	} {
		t.Run(name, test)
	}
}

type commandSuite struct{ open NewCommands }

// ran is what one command did.
type ran struct {
	Exit           workspace.Exit
	Stdout, Stderr string
}

// script runs a script of the shell.
func script(ctx context.Context, c workspace.Commands, text string, more workspace.Command) (ran, error) {
	var out, errs bytes.Buffer
	more.Argv, more.Stdout, more.Stderr = []string{"sh", "-c", text}, &out, &errs
	exit, err := c.Run(ctx, more)
	return ran{exit, out.String(), errs.String()}, err
}

func (s commandSuite) testExits(t *testing.T) {
	_, c := s.open(t)
	for text, want := range map[string]ran{
		"true":                             {},
		"echo out; echo err >&2; exit 3":   {Exit: workspace.Exit{Code: 3}, Stdout: "out\n", Stderr: "err\n"},
		"kill -USR1 $$":                    {Exit: workspace.Exit{Signal: syscall.SIGUSR1}},
		`printf 'a\000\377b'`:              {Stdout: "a\x00\xffb"},
		"no-such-program-of-toolhost 2>&-": {Exit: workspace.Exit{Code: 127}},
	} {
		got, err := script(t.Context(), c, text, workspace.Command{})
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	if exit, err := c.Run(t.Context(), workspace.Command{Argv: []string{"sh", "-c", "echo discarded; exit 4"}}); err != nil || exit.Code != 4 {
		t.Errorf("without writers: %+v, %v", exit, err)
	}
}

func (s commandSuite) testInput(t *testing.T) {
	_, c := s.open(t)
	got, err := script(t.Context(), c, `cat; echo "$A_1"`, workspace.Command{
		Stdin: strings.NewReader("given\n"), Env: map[string]string{"A_1": "x y"},
	})
	if err != nil || got.Stdout != "given\nx y\n" {
		t.Errorf("got %+v, %v", got, err)
	}
	unread, err := script(t.Context(), c, "exec 0<&-; echo done", workspace.Command{Stdin: strings.NewReader(strings.Repeat("x", 3<<20))})
	if err != nil || unread.Stdout != "done\n" {
		t.Errorf("an input that the command does not read: %+v, %v", unread, err)
	}
	counted, err := script(t.Context(), c, "wc -c", workspace.Command{Stdin: strings.NewReader(strings.Repeat("x", 3<<20))})
	if err != nil || strings.TrimSpace(counted.Stdout) != "3145728" {
		t.Errorf("a large input: %+v, %v", counted, err)
	}
	if none, err := script(t.Context(), c, "cat", workspace.Command{}); err != nil || none.Stdout != "" {
		t.Errorf("no input: %+v, %v", none, err)
	}
}

// Commands and files are those of the same workspace.
func (s commandSuite) testFolder(t *testing.T) {
	w, c := s.open(t)
	if _, err := w.WriteFile(t.Context(), "sub/given.txt", []byte("given"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := script(t.Context(), c, "cat given.txt; printf made >made.txt; ln -s sub ../link; ln -s ../.. out; pwd -P >&2", workspace.Command{Dir: "sub"})
	if err != nil || got.Stdout != "given" {
		t.Fatalf("got %+v, %v", got, err)
	}
	reads(t, w, map[string]string{"sub/made.txt": "made"})
	shown := strings.TrimSpace(got.Stderr)
	if rel, err := w.Rel(shown); err != nil || rel != "sub" {
		t.Errorf("the path %s that the command shows is %q in the workspace, %v", shown, rel, err)
	}
	for _, dir := range []string{"link", "./sub/", "link/../sub", shown} {
		if got, err := script(t.Context(), c, "cat made.txt", workspace.Command{Dir: dir}); err != nil || got.Stdout != "made" {
			t.Errorf("in %s: %+v, %v", dir, got, err)
		}
	}
	for dir, want := range map[string]error{
		"..": workspace.ErrOutside, "/": workspace.ErrOutside, "sub/../..": workspace.ErrOutside, "sub/out": workspace.ErrOutside,
		"missing": fs.ErrNotExist, "sub/given.txt": workspace.ErrNotFolder,
	} {
		_, err := script(t.Context(), c, "echo ran", workspace.Command{Dir: dir})
		refused(t, "Run", dir, err, want)
	}
}

func (s commandSuite) testRefuses(t *testing.T) {
	w, c := s.open(t)
	for name, test := range map[string]struct {
		command workspace.Command
		want    error
	}{
		"no program":     {workspace.Command{Argv: []string{"no-such-program-of-toolhost"}}, workspace.ErrNoProgram},
		"nothing":        {workspace.Command{}, fs.ErrInvalid},
		"NUL":            {workspace.Command{Argv: []string{"sh", "-c", "touch ran\x00"}}, fs.ErrInvalid},
		"bad variable":   {workspace.Command{Argv: []string{"touch", "ran"}, Env: map[string]string{"a b": "c"}}, fs.ErrInvalid},
		"toolhost's":     {workspace.Command{Argv: []string{"touch", "ran"}, Env: map[string]string{"TOOLHOST_INSTANCE": "c"}}, fs.ErrInvalid},
		"NUL in a value": {workspace.Command{Argv: []string{"touch", "ran"}, Env: map[string]string{"A": "\x00"}}, fs.ErrInvalid},
	} {
		exit, err := c.Run(t.Context(), test.command)
		if _, typed := errors.AsType[*workspace.Error](err); !errors.Is(err, test.want) || !typed || exit != (workspace.Exit{}) {
			t.Errorf("%s: got %+v, %v; want %v", name, exit, err, test.want)
		}
	}
	if _, err := w.Stat(t.Context(), "ran"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused command ran: %v", err)
	}
}

// signalled cancels a context when a command has written a word.
type signalled struct {
	bytes.Buffer
	word   string
	cancel context.CancelFunc
}

func (s *signalled) Write(p []byte) (int, error) {
	defer func() {
		if strings.Contains(s.String(), s.word) {
			s.cancel()
		}
	}()
	return s.Buffer.Write(p)
}

// The end of the context ends the command: gently first, then in any case.
func (s commandSuite) testCancelled(t *testing.T) {
	_, c := s.open(t)
	for text, want := range map[string]workspace.Exit{
		"echo ready; sleep 1000": {Signal: syscall.SIGTERM, Ended: true},
		"trap 'echo clean; exit 9' TERM; echo ready; sleep 1000 & wait":     {Code: 9, Ended: true},
		"trap '' TERM; setsid sleep 1000 & echo ready; while :; do :; done": {Signal: syscall.SIGKILL, Ended: true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &signalled{word: "ready", cancel: cancel}
		exit, err := c.Run(ctx, workspace.Command{Argv: []string{"sh", "-c", text}, Stdout: out})
		if err != nil || exit != want {
			t.Errorf("%s: got %+v, %v; want %+v", text, exit, err, want)
		}
		if strings.Contains(text, "clean") && out.String() != "ready\nclean\n" {
			t.Errorf("the output after the signal is lost: %q", out.String())
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, c := s.open(t)
	if exit, err := c.Run(ctx, workspace.Command{Argv: []string{"touch", "ran"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v; want the error of the context", exit, err)
	}
	if _, err := w.Stat(t.Context(), "ran"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a command ran after its context had ended: %v", err)
	}
}

// Everything that a command started ends with it.
func (s commandSuite) testLeft(t *testing.T) {
	_, c := s.open(t)
	got, err := script(t.Context(), c, "setsid sh -c 'echo $$ >pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done", workspace.Command{})
	if err != nil || got.Exit.Code != 0 || got.Exit.Left != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if after, err := script(t.Context(), c, "kill -0 $(cat pid) 2>&1", workspace.Command{}); err != nil || after.Exit.Code == 0 {
		t.Errorf("the process is left: %+v, %v", after, err)
	}
}

// No output is lost or mixed up, however large it is.
func (s commandSuite) testLarge(t *testing.T) {
	_, c := s.open(t)
	got, err := script(t.Context(), c, "i=0; while [ $i -lt 20000 ]; do echo line $i of the output; i=$((i+1)); done; yes err | head -c 1000000 >&2", workspace.Command{})
	if err != nil || strings.Count(got.Stdout, "\n") != 20000 || !strings.HasSuffix(got.Stdout, "line 19999 of the output\n") ||
		len(got.Stderr) != 1000000 || strings.Trim(got.Stderr, "er\n") != "" {
		t.Errorf("got %d and %d bytes, %v", len(got.Stdout), len(got.Stderr), err)
	}
}
