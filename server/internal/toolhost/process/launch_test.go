package process_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

func TestLaunchCallStop(t *testing.T) {
	cfg, _ := setup(t)
	before := time.Now()
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
	if p.PID() <= 1 || p.StartTime().Before(before) {
		t.Errorf("pid %d, started %v", p.PID(), p.StartTime())
	}
	if size, err := p.RSS(); err != nil || size < 1<<20 {
		t.Errorf("RSS = %d, %v; want more than 1 MiB", size, err)
	}
	d, err := p.Conn().Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil || d.Name != "fault" {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if exit := p.Exit(); exit.Code != 0 || exit.Signal != "" || exit.Reason != "toolhost stopped it" {
		t.Errorf("exit %+v, want a gentle end", exit)
	}
}

// Names in handshakes must not outlive their use: a process that dies without a cleanup leaves
// none.
func TestSocketHasNoNameOnceConnected(t *testing.T) {
	cfg, _ := setup(t)
	launch(t, cfg)
	err := filepath.WalkDir(cfg.RunDir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type()&os.ModeSocket != 0 {
			t.Errorf("%s is there", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLaunchRefusesWhatIsNoPlugin(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  []string
	}{
		{"it says hello", []string{"-first=hello world"}, []string{`is not a toolhost plugin: its first line on standard output was "hello world", expected go-plugin's handshake`, "sdk"}},
		{"it says nothing in its first line", []string{"-first= "}, []string{`its first line on standard output was ""`}},
		{"it says something before its handshake", []string{"-stdout=loading"}, []string{`its first line on standard output was "loading"`, "print nothing before it serves"}},
		{"it says something in the line of its handshake", []string{"-unfinished=" + strconv.Itoa(1<<20)}, []string{strings.Repeat("x", 200) + `"…`}},
		{"its line is long", []string{"-first=" + strings.Repeat("x", 100<<10)}, []string{strings.Repeat("x", 200) + `"…`}},
		{"too few fields", []string{"-first=1|1|unix"}, []string{"expected go-plugin's handshake"}},
		{"another core protocol", []string{"-first=2|1|unix|{dir}/s|grpc"}, []string{"version 2 of go-plugin's protocol"}},
		{"another contract", []string{"-first=1|77|unix|{dir}/s|grpc"}, []string{`version "77" of toolhost's contract`, "[1]"}},
		{"net/rpc", []string{"-first=1|1|unix|{dir}/s|netrpc"}, []string{"the protocol must be grpc"}},
		{"net/rpc by omission", []string{"-first=1|1|unix|{dir}/s"}, []string{"the protocol must be grpc"}},
		{"TCP", []string{"-first=1|1|tcp|127.0.0.1:1234|grpc"}, []string{"the network must be unix", "PLUGIN_UNIX_SOCKET_DIR"}},
		{"a certificate that is none", []string{"-certificate=bad"}, []string{"it brings a certificate", "without TLS"}},
		{"a certificate with padding", []string{"-certificate=padded"}, []string{"it brings a certificate", "without TLS"}},
		{"a certificate that nobody asked for", []string{"-certificate=unsolicited"}, []string{"it brings a certificate", "without TLS"}},
		{"a certificate that it uses", []string{"-tls=announced"}, []string{"it brings a certificate", "without TLS"}},
		{"a seventh field", []string{"-first=1|1|unix|{dir}/s|grpc||true"}, []string{"it has 7 fields"}},
		{"a socket elsewhere", []string{"-first=1|1|unix|/tmp/s|grpc"}, []string{"the socket must be in the folder"}},
		{"a socket elsewhere by dots", []string{"-first=1|1|unix|{dir}/../s|grpc"}, []string{"the socket must be in the folder"}},
		{"no socket", []string{"-first=1|1|unix|{dir}/s|grpc"}, []string{"nothing listens there"}},
		{"an abstract socket", []string{"-first=1|1|unix|@s|grpc"}, []string{"the socket must be in the folder"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, _ := setup(t, test.flags...)
			err := refused(t, cfg)
			for _, want := range append(test.want, `launching plugin "fault": it is not a toolhost plugin`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestLaunchTellsHowAProgramEnded(t *testing.T) {
	cfg, _ := setup(t, "-stderr=no license found", "-exit=3")
	err := refused(t, cfg)
	for _, want := range []string{"ended before it could be used: exit code 3", "no license found"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if exit := exitOf(t, err); exit.Code != 3 || exit.Reason != "" {
		t.Errorf("exit %+v", exit)
	}
}

// The error quotes the reason of a program's end even if it is longer than other quotes may be.
func TestLaunchQuotesWhyAProgramEnded(t *testing.T) {
	cfg, _ := setup(t, "-stderr=Traceback (most recent call last):\n  File fault.py\nKeyError: 'license'\n1\n2\n3\n4\n5\n6", "-exit=1")
	if err := refused(t, cfg); !strings.HasSuffix(err.Error(), `its last words on standard error: "KeyError: 'license'"`) {
		t.Errorf("error %q", err)
	}
}

func TestLaunchTimesOut(t *testing.T) {
	tests := []struct {
		name, want string
		flags      []string
	}{
		{"it says nothing", "did not answer within", []string{"-hang"}},
		{"it is stopped before it says anything", "did not answer within", []string{"-stop"}},
		{"it listens, and does not answer", "did not answer within", []string{"-listen={dir}"}},
		{"it serves, and never says that it is ready", "did not answer within", []string{"-health=silent"}},
		{"its first line never ends", "did not answer within", []string{"-unfinished=" + strconv.Itoa(1<<20), "-hang"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, _ := setup(t, test.flags...)
			cfg.StartTimeout = 300 * time.Millisecond
			err := refused(t, cfg)
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want %q in it", err, test.want)
			}
			exitOf(t, err)
		})
	}
}

// A hanging launch shows the step that it waits for.
func TestLaunchSaysHowFarItIs(t *testing.T) {
	handshaking, warming := tool.InstanceHandshaking, tool.InstanceWarming
	for name, tc := range map[string]struct {
		flag string
		want []tool.InstanceState
	}{
		"it says nothing":                   {"-hang", []tool.InstanceState{handshaking}},
		"it listens, and does not answer":   {"-listen={dir}", []tool.InstanceState{handshaking, warming}},
		"it is never ready":                 {"-health=silent", []tool.InstanceState{handshaking, warming}},
		"it is no executable of any system": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t, tc.flag)
			if tc.want == nil {
				cfg.Path = "/nowhere"
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var got []tool.InstanceState
			cfg.Report = func(state tool.InstanceState) {
				if got = append(got, state); len(got) == len(tc.want) {
					cancel()
				}
			}
			if _, err := process.Launch(ctx, cfg); err == nil {
				t.Error("it was launched")
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("it was %v, want %v", got, tc.want)
			}
		})
	}
}

// For a caller, a plugin that exceeds the caller's deadline is a plugin that does not answer.
func TestLaunchIsTooSlowForItsContext(t *testing.T) {
	cfg, _ := setup(t, "-hang")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := process.Launch(ctx, cfg)
	if err == nil || !strings.Contains(err.Error(), "did not answer within") || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	exitOf(t, err)
}

func TestLaunchQuotesAnUnfinishedLine(t *testing.T) {
	for name, tc := range map[string]struct {
		flag, want string
	}{
		"a question":        {"-ask=What is your name? ", `it printed "What is your name? ", expected`},
		"one without bound": {"-unfinished=" + strconv.Itoa(1<<20), `it printed "` + strings.Repeat("x", 200) + `"…, expected`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t, tc.flag, "-hang")
			var err error
			for cfg.StartTimeout = 300 * time.Millisecond; cfg.StartTimeout < time.Minute; cfg.StartTimeout *= 3 {
				if err = refused(t, cfg); strings.Contains(err.Error(), tc.want) {
					return
				} // otherwise it may have been too slow to print anything
			}
			t.Errorf("error %q", err)
		})
	}
}

func TestLaunchIsAborted(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
	}{
		{"before the handshake", []string{"-stderr=here", "-hang"}},
		{"while it is stopped", []string{"-stderr=here", "-stop"}},
		{"after the handshake", []string{"-stderr=here", "-listen={dir}"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, log := setup(t, test.flags...)
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("the last caller left")
			go func() {
				log.await(t, "here")
				cancel(reason)
			}()
			p, err := process.Launch(ctx, cfg)
			if !errors.Is(err, reason) {
				t.Errorf("Launch = %v, %v; want the reason of the abortion", p, err)
			}
		})
	}
}

func TestLaunchOutlivesItsContext(t *testing.T) {
	cfg, _ := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := process.Launch(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := do(t, p, arguments{"do": "echo", "text": "still here"}); got != "still here" {
		t.Errorf("the call says %q", got)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func TestLaunchOfWhatCannotBeStarted(t *testing.T) {
	tests := []struct {
		name, want string
		change     func(t *testing.T, cfg *process.Config)
	}{
		{"no such file", "no such file", func(_ *testing.T, c *process.Config) { c.Path = "/nowhere/plugin" }},
		{"not executable", "permission denied", func(t *testing.T, c *process.Config) {
			c.Path = script(t, "")
			if err := os.Chmod(c.Path, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"no interpreter", "what it says that it is run by is not", func(t *testing.T, c *process.Config) { c.Path = script(t, "#!/nowhere/python\n") }},
		{"no format that the kernel knows", "exec format error; it is no program for this machine", func(t *testing.T, c *process.Config) { c.Path = script(t, "hello\n") }},
		{"a relative path", "not absolute", func(_ *testing.T, c *process.Config) { c.Path = "plugin" }},
		{"no such folder", "no such file", func(_ *testing.T, c *process.Config) { c.Dir = "/nowhere" }},
		{"no name", "has no name", func(_ *testing.T, c *process.Config) { c.Plugin = "" }},
		{"no run folder", "no such file", func(_ *testing.T, c *process.Config) { c.RunDir = "/nowhere" }},
		{"a run folder that others may enter", "chmod 700", func(t *testing.T, c *process.Config) {
			if err := os.Chmod(c.RunDir, 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"a run folder that is too deep", "choose a shorter one", func(_ *testing.T, c *process.Config) { c.RunDir = "/" + strings.Repeat("x", 60) }},
		{"a client certificate", `"PLUGIN_CLIENT_CERT" is toolhost's to set`, func(_ *testing.T, c *process.Config) { c.Env = []string{"PLUGIN_CLIENT_CERT=x"} }},
		{"no assignment", "not of the form", func(_ *testing.T, c *process.Config) { c.Env = []string{"DEBUG"} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, _ := setup(t)
			test.change(t, &cfg)
			if err := refused(t, cfg); !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want %q in it", err, test.want)
			}
		})
	}
}

// A plugin may be a script that starts the serving program.
func TestLaunchThroughAScript(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Path = script(t, "#!/bin/sh\n\"$@\"\n")
	cfg.Args = append([]string{executable(t)}, cfg.Args...)
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func TestLaunchWaitsForAFileThatIsBeingWritten(t *testing.T) {
	cfg, _ := setup(t)
	text, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Path, cfg.Args = filepath.Join(t.TempDir(), "sleep"), []string{"0"}
	file, err := os.OpenFile(cfg.Path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(cfg.Path, "0").Run(); err == nil {
		t.Fatal("this system starts files that are open for writing")
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = file.Close() })
	if err := refused(t, cfg); !strings.Contains(err.Error(), "exit code 0") {
		t.Errorf("error %q; want that it was started", err)
	}
}

// toolhost checks the process that listens on the socket, because the folder's mode excludes only
// other users.
func TestPeerMustBeThePlugin(t *testing.T) {
	cfg, _ := setup(t, "-impostor")
	err := refused(t, cfg)
	if !strings.Contains(err.Error(), "which is not of its process") {
		t.Errorf("error %q", err)
	}
	if strings.Contains(err.Error(), "rpc error") {
		t.Errorf("error %q says it twice", err)
	}
}

func TestPeerMayBeADescendant(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Path = script(t, "#!/bin/sh\nsetsid \"$@\" &\nwait\n")
	cfg.Args = append([]string{executable(t)}, cfg.Args...)
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
}

// A plugin sees nothing of toolhost that it does not need: no variables, no open files.
func TestPluginInheritsNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret-1")
	// This variable alone makes a plugin serve TLS.
	t.Setenv("PLUGIN_CLIENT_CERT", "secret-2")
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"} { // systemd's
		t.Setenv(name, "secret-4")
	}
	t.Setenv("TZ", "Europe/Vienna")
	held, err := os.OpenFile(filepath.Join(t.TempDir(), "secret-3"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	inheritable(t, held)
	cfg, _ := setup(t)
	cfg.Env = append(cfg.Env, "GRANTED=yes", "LANG=tlh", "LANG=C")
	p := launch(t, cfg)

	env := do(t, p, arguments{"do": "environ"})
	for _, want := range []string{`"GRANTED=yes"`, `"LANG=C"`, `"TZ=Europe/Vienna"`, `"PATH=` + os.Getenv("PATH"), `"HOME=` + cfg.RunDir, `"TMPDIR=` + cfg.RunDir, `"TOOLHOST_INSTANCE=`} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment is %s, want %s in it", env, want)
		}
	}
	for _, unwanted := range []string{"secret", "PLUGIN_CLIENT_CERT", "tlh"} {
		if strings.Contains(env, unwanted) {
			t.Errorf("the environment is %s, with %s", env, unwanted)
		}
	}
	files := do(t, p, arguments{"do": "files"})
	if strings.Contains(files, "secret") {
		t.Errorf("the plugin has open %s", files)
	}
	if !strings.Contains(files, `"0 /dev/null"`) {
		t.Errorf("the plugin has open %s, want /dev/null as its standard input", files)
	}
}

// inheritable makes a descriptor that looks inherited.
func inheritable(t *testing.T, file *os.File) {
	t.Helper()
	raw, err := file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { _, err = unix.FcntlInt(fd, unix.F_SETFD, 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnUnusableSessionIsTheReason checks that a process that answers, but not as it must, is not
// said to have ended, although it ends when its session is closed.
func TestAnUnusableSessionIsTheReason(t *testing.T) {
	for name, test := range map[string]struct {
		err          error
		want, absent string
	}{
		"it answers":  {&process.UnusableError{Err: errors.New("its list is rubbish")}, "its list is rubbish", "ended before"},
		"it is ended": {errors.New("the session ended"), "it ended before it could be used: exit code 0", "rubbish"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t)
			cfg.Path, cfg.Args = script(t, "#!/bin/sh\ncat\n"), nil
			cfg.Pipes = func(_ context.Context, p process.Pipes) (process.Session, error) {
				_ = p.In.Close()
				_, _ = io.Copy(io.Discard, p.Out)
				return nil, test.err
			}
			if err := refused(t, cfg); !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), test.absent) {
				t.Errorf("it says %q, want %q", err, test.want)
			}
		})
	}
}
