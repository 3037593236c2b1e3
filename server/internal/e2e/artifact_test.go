package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/fault"
	"github.com/toolhost/toolhost/tool"
)

// largeResult makes the fault plugin return a result of a given size, and returns its artifact.
func largeResult(t *testing.T, c *client.Client, call tool.Call, kind string, size int) *tool.Artifact {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call.Tool, call.Arguments = "fault", fmt.Appendf(nil, `{"do":"large","text":%q,"number":%d}`, kind, size)
	outcome, err := c.Follow(ctx, call, func(tool.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Result.Content) != 1 || outcome.Result.Content[0].Artifact == nil {
		t.Fatalf("the result is no artifact: %.200q", outcome.Result.Text())
	}
	return outcome.Result.Content[0].Artifact
}

// After a kill and restart of toolhost, an artifact is available to its caller, to people at a
// terminal and to a model. Other callers cannot read it.
func TestArtifact(t *testing.T) {
	t.Parallel()
	const size = 300_000
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	install(t, h, "artifacts", "plugins/artifacts", "")
	h.serve(t)
	whole := string(fault.Payload(size))
	shown := largeResult(t, h.dial(t), tool.Call{Session: "s"}, "text", size)
	if shown.Head != whole[:3<<10] || shown.Tail != whole[size-1<<10:] || shown.Size != size {
		t.Errorf("by default %d and %d bytes of %d are shown", len(shown.Head), len(shown.Tail), shown.Size)
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	h.serve(t)
	if got := h.do(t, "artifact", shown.Handle, "--session", "s"); got.stdout != whole {
		t.Errorf("after a restart %d bytes are printed, %s", len(got.stdout), got.stderr)
	}
	h.do(t, "artifact", shown.Handle).exits(t, 3)
	h.do(t, "artifact", shown.Handle).says(t, "not_found: there is no artifact")
	read := fmt.Sprintf(`{"artifact":%q,"offset":299000}`, shown.Handle)
	h.do(t, "call", "read_artifact", read, "--session", "s").says(t, whole[299_000:], "[bytes 299000 to 300000 of 300000: this is the end]")
	h.do(t, "call", "read_artifact", read).exits(t, 1)
	files, err := os.ReadDir(filepath.Join(h.state, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	h.endsClean(t)
}

// If a model receives only a part of a result, the result says how much is missing and how to read
// it.
func TestModelReadsTheHandleOfAnArtifact(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	h.serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer := ""
	h.agentd(t, ctx, fmt.Sprintf(`
turns:
  - calls: [{id: a, tool: fault, arguments: {do: large, text: text, number: %d}}]
  - text: 'I read: {{result "a"}}'
`, size), func(e runEvent) {
		if strings.HasPrefix(e.Text, "I read: ") {
			answer = e.Text
		}
	})
	// agentd chooses the size of the shown part by the free space in the model's window.
	whole := string(fault.Payload(size))
	head, rest, _ := strings.Cut(answer, "\n[Here ")
	note, tail, _ := strings.Cut(rest, "\n")
	if len(head) < 1000 || !strings.HasPrefix(whole, strings.TrimPrefix(head, "I read: ")) || !strings.HasSuffix(whole, tail) ||
		!strings.Contains(note, fmt.Sprintf(" of %d bytes are not shown. The whole is kept as artifact artifact-", size)) {
		t.Errorf("the model read %.100q, %q, %.100q", head, note, tail)
	}
}

// toolhost writes an allowed result of 100 MiB to disk in bounded memory. The results of the other
// kinds are smaller here, because only results of this kind have no other bound.
func TestHundredMiBArtifact(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	write(t, filepath.Join(h.home, "toolhost.yaml"), "calls: {max_result_bytes: 128MiB}\n", 0o600)
	h.serve(t)
	c := h.dial(t)
	h.echo(t, c, "fault", "")
	for _, large := range []struct {
		kind string
		size int
	}{{"json", 16 << 20}, {"file", 16 << 20}, {"text", 100 << 20}} {
		before := h.peakMemory(t)
		shown := largeResult(t, c, tool.Call{}, large.kind, large.size)
		file := filepath.Join(h.workspace, large.kind)
		h.do(t, "artifact", shown.Handle, "--file", file).exits(t, 0)
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		end := large.size - 1
		// JSON adds quotes
		if want := fault.Payload(large.size); len(got) != len(want) || !bytes.Equal(got[1:end], want[1:end]) {
			t.Errorf("%s: %d bytes that are not those of the tool", large.kind, len(got))
		}
		grown := h.peakMemory(t) - before
		t.Logf("%s: toolhost grew by %d MiB at most", large.kind, grown>>20)
		// a smaller growth proves nothing: the garbage collector may not have run yet
		if grown > max(4*large.size, 128<<20) {
			t.Errorf("%s: that is too much for %d MiB", large.kind, large.size>>20)
		}
	}
	h.endsClean(t)
}
