package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// logRecord is a line of the log in JSON.
type logRecord map[string]any

// logged returns the records of toolhost's log.
func (h *toolhost) logged(t *testing.T) (records []logRecord) {
	t.Helper()
	for line := range strings.Lines(h.stderr.String()) {
		var r logRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in the line %q", err, line)
		}
		records = append(records, r)
	}
	return records
}

// about returns the records with a field, each as its level, subsystem, message and the names of
// its fields.
func about(records []logRecord, field, value string) []string {
	var texts []string
	for _, r := range records {
		if r[field] != value {
			continue
		}
		var fields []string
		for _, key := range slices.Sorted(maps.Keys(r)) {
			if !slices.Contains([]string{"time", "level", "subsystem", "msg", "plugin"}, key) {
				fields = append(fields, key)
			}
		}
		texts = append(texts, strings.Join([]string{r["level"].(string), r["subsystem"].(string), r["msg"].(string), strings.Join(fields, " ")}, " | "))
	}
	return texts
}

// Each change of a plugin has one record, with the fields that say who and what. The test runs a
// plugin through its life.
func TestLogOfALife(t *testing.T) {
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	h.serve(t, "--log-format", "json", "--log-level", "info,calls=debug")
	h.callJSON(t, "calculator", `{"expression":"1"}`)
	h.do(t, "call", "fault", `{"do":"crash"}`)
	h.do(t, "pause", "calculator")
	h.do(t, "resume", "calculator")
	h.do(t, "restart", "calculator")
	eventually.Holds(t, "the old instance has exited", func() bool { return strings.Contains(h.stderr.String(), `"instance exited"`) })
	h.stop(t)
	records := h.logged(t)
	for plugin, want := range map[string][]string{
		"calculator": {
			"INFO | lifecycle | plugin described | digest source took tools version",
			"INFO | lifecycle | instance ready | instance pid took",
			"DEBUG | calls | call ended | call instance outcome principal took tool",
			"WARN | lifecycle | plugin paused | digest reason",
			"INFO | lifecycle | plugin enabled | digest reason",
			"INFO | lifecycle | restart started | digest reason",
			"INFO | lifecycle | instance ready | instance pid took",
			"INFO | lifecycle | instance drains | digest instance reason",
			"INFO | lifecycle | restart finished | digest instance",
			"INFO | lifecycle | instance exited | exit instance lived",
			"INFO | lifecycle | instance exited | exit instance lived",
		},
		"fault": {
			"INFO | lifecycle | plugin described | digest source took tools version",
			"INFO | lifecycle | instance ready | instance pid took",
			"ERROR | plugins | panic:  | instance pid",
			"ERROR | lifecycle | instance crashed | calls executing exit instance last_stderr lived",
			"DEBUG | calls | call failed | call error instance outcome principal took tool",
		},
	} {
		got := about(records, "plugin", plugin)
		for i := range got { // the message of a panic goes on with the stack
			got[i], _, _ = strings.Cut(got[i], "\n")
			if strings.HasPrefix(got[i], "ERROR | plugins | panic: ") {
				got[i] = "ERROR | plugins | panic:  | instance pid"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", plugin, diff)
		}
	}
	want := []string{
		"INFO | server | toolhost started | config listen plugins state tools version workspace",
		"INFO | server | toolhost stops | calls grace",
		"INFO | server | toolhost stopped | uptime",
	}
	if diff := cmp.Diff(want, about(records, "subsystem", "server")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A wrong level is refused with the names that are allowed, by the flag, the variable and the file.
func TestWrongLogLevels(t *testing.T) {
	h := prepare(t)
	for _, tc := range []struct{ flag, want string }{
		{"info,polcy=debug", "--log-level: there is no subsystem \"polcy\"; did you mean policy? The subsystems are server, lifecycle, plugins,"},
		{"loud", "--log-level: there is no level \"loud\"; use debug, info, warn or error"},
	} {
		if got := h.fails(t, "--log-level", tc.flag); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s", tc.flag, got)
		}
	}
}

// fullPipe returns the writing end of a pipe that is full and that no process reads.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unread.Close(); full.Close() })
	if err := full.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = full.Write(make([]byte, 1))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(int(full.Fd()), false); err != nil { // a child process must block
		t.Fatal(err)
	}
	return full
}

// Nothing waits for the log: with both streams of toolhost full and unread, calls of a plugin that
// logs and that crashes end, `ps` answers, and SIGTERM ends toolhost.
func TestStreamsThatNoProcessReads(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	h.grant(t)
	h.allow(t)
	h.trust(t, "toolhost.yaml")
	h.cmd = command(context.Background(), h.home, h.env, "toolhost", "serve", "--plugins", h.plugins, "--listen", h.addr, "--state", h.state, "--log-level", "debug")
	full := fullPipe(t)
	h.cmd.Stdout, h.cmd.Stderr = full, full
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { // ends with the process, which the cleanup kills
		_ = h.cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		<-exited
	})
	ready := func() bool { return h.do(t, "ps").code == 0 }
	eventually.Holds(t, "toolhost serves", ready)
	for range 3 {
		if out, r := h.callJSON(t, "fault", `{"do":"flood","number":200000}`); out.Text != "done" {
			t.Fatalf("%s %s", r.stdout, r.stderr)
		}
	}
	if out, r := h.callJSON(t, "fault", `{"do":"crash"}`); out.Error == nil {
		t.Fatalf("%s %s", r.stdout, r.stderr)
	}
	if !ready() {
		t.Fatal("ps does not answer")
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "toolhost has ended", func() bool {
		select {
		case <-exited:
			return true
		default:
			return false
		}
	})
}
