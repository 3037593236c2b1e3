package process_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

func protocol(dir string) []string {
	return []string{pluginwire.CookieKey + "=" + pluginwire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR=" + dir}
}

// A bare process is started like any other, and only its caller communicates with it.
func TestBareProcess(t *testing.T) {
	for name, mode := range map[string]process.NamespaceMode{"with a namespace": process.NamespaceAuto, "without": process.NamespaceOff} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t, "-spawn=session")
			cfg.PIDNamespace = mode
			b, err := process.StartBare(t.Context(), cfg, protocol)
			if err != nil {
				t.Fatal(err)
			}
			line, whole, err := b.FirstLine(t.Context())
			fields := strings.Split(line, "|")
			if err != nil || !whole || len(fields) < 5 || !strings.HasPrefix(fields[3], b.Dir()+"/") {
				t.Fatalf("the first line is %q, %v, %v", line, whole, err)
			}
			conn, err := b.Dial(t.Context(), fields[3])
			if err != nil {
				t.Fatal(err)
			}
			if again, err := b.Dial(t.Context(), fields[3]); err == nil {
				t.Errorf("connected twice: %v", again.LocalAddr())
			}
			if left := b.Survivors(); left != nil {
				t.Errorf("while it runs, its survivors are %q", left)
			}
			_ = conn.Close()
			b.Kill()
			<-b.Done()
			if exit := b.Exit(); exit.Signal != "SIGKILL" {
				t.Errorf("it ended with %v", exit)
			}
		})
	}
}

// The processes that a process leaves at its end are reported, and then killed as always.
func TestBareProcessLeavesAnother(t *testing.T) {
	for name, mode := range map[string]process.NamespaceMode{"with a namespace": process.NamespaceAuto, "without": process.NamespaceOff} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t, "-spawn=session", "-exit=3")
			cfg.PIDNamespace = mode
			b, err := process.StartBare(t.Context(), cfg, protocol)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.FirstLine(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("the first line of a process that prints none: %v", err)
			}
			<-b.Done()
			if left := b.Survivors(); !slices.Equal(left, []string{"sleep"}) || b.Exit().Code != 3 {
				t.Errorf("it ended with %v and left %q", b.Exit(), left)
			}
		})
	}
}

func TestBareProcessThatCannotStart(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Path = cfg.RunDir + "/nothing"
	if _, err := process.StartBare(t.Context(), cfg, protocol); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("started: %v", err)
	}
}
