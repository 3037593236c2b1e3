//go:build !race

package commands

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The user gets a direct answer completely, in each output, even if it is too large for a model.
// The answer does not contain the note that tells a model how to read the rest.
func TestLargeDirectAnswer(t *testing.T) {
	var lines strings.Builder
	// large enough that agentd reads it in several pieces
	for lines.Len() < 2*tool.MaxArtifactPiece+tool.MaxArtifactPiece/3 {
		lines.WriteString(rand.Text() + " ẞ\n")
	}
	report, table := lines.String(), rand.Text()+strings.Repeat("x", tool.DefaultArtifactPiece)
	want := report + "\nbetween\n\"" + table + "\"\n[picture.bin application/octet-stream, 600000 bytes: artifact "
	w := newWorld(t)
	w.host = hosttest.New(t, nil, hosttest.Tool{
		Spec: tool.Spec{Name: "report", Version: "1.0.0", Description: "Reports.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true, ReturnDirect: true},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{
				tool.Text(report), tool.Text("between"), tool.JSON(json.RawMessage(`"` + table + `"`)),
				tool.File("picture.bin", "application/octet-stream", make([]byte, 600_000)),
			}}, nil
		},
	})
	w.withToolhost()
	journal, socket := filepath.Join(w.folder, "runs.db"), "unix://"+filepath.Join(w.folder, "agentd.sock")
	script := w.script("turns: [{calls: [{id: a, tool: report, arguments: {}}]}]")
	check := func(what, got string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s shows %d bytes, and not the whole answer of %d: %.200q … %q", what, len(got), len(want), got, got[max(0, len(got)-300):])
		}
		if strings.Contains(got, "A tool that takes the handle") {
			t.Errorf("%s shows what models are told", what)
		}
	}
	ran := w.run("run", "--journal", journal, "--model", script, "go")
	ran.want(t, 0)
	check("agentd run", ran.stdout.String())
	runs := strings.Fields(w.run("runs", "--journal", journal).stdout.String())
	check("agentd show", w.run("show", "--journal", journal, runs[7]).stdout.String())
	for _, line := range strings.Split(w.run("show", "-o", "json", "--journal", journal, runs[7]).stdout.String(), "\n") {
		var end struct{ Type, Text string }
		if json.Unmarshal([]byte(line), &end) == nil && end.Type == "run_finished" {
			check("agentd show -o json", end.Text)
		}
	}
	chat := ended{stdout: newOutput(), stderr: newOutput()}
	p := w.process(chat, "chat", "--journal", journal, "--model", script)
	p.Stdin = strings.NewReader("go\n")
	chat.code = run(t.Context(), p)
	chat.want(t, 0)
	check("agentd chat", chat.stdout.String())

	check("WatchRun", servedAnswer(t, w, socket, journal, script))
}

// servedAnswer returns the text with which a run of `agentd serve` ends.
func servedAnswer(t *testing.T, w *world, socket, journal, script string) string {
	t.Helper()
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", journal, "--model", script)
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	text := finalText(t, a, id, 0)
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, server.stderr)
	}
	return text
}
