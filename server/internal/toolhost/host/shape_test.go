package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// withArtifacts gives a host an artifact store.
func withArtifacts(t *testing.T) func(*host.Config) { return withStore(t, artifact.Config{}) }

func withStore(t *testing.T, cfg artifact.Config) func(*host.Config) {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	store, err := artifact.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return func(c *host.Config) { c.Artifacts = store }
}

// answering is a tool that returns a given result.
func answering(answer func() (tool.Result, error)) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: "answer", Description: "Answers.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true, EffectKeys: []string{"k"}},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return answer()
		},
	}
}

// shaped returns the result that a caller with a budget gets. A negative budget means that the
// caller sets none.
func shaped(t *testing.T, r *rig, shown int) tool.Result {
	t.Helper()
	c := call("answer", `{}`)
	if shown >= 0 {
		c.MaxShown = &shown
	}
	out := outcome(t, r, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	return out.Result
}

// stored returns a whole artifact.
func stored(t *testing.T, r *rig, a *tool.Artifact) string {
	t.Helper()
	var all []byte
	for {
		piece, err := r.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: a.Handle, Offset: uint64(len(all)), Limit: tool.MaxArtifactPiece})
		if err != nil {
			t.Fatal(err)
		}
		if len(piece.Data) == 0 {
			return string(all)
		}
		all = append(all, piece.Data...)
	}
}

// sketch describes a block and how much it shows.
func sketch(blocks []tool.Content) []string {
	var all []string
	for _, b := range blocks {
		switch {
		case b.Artifact != nil:
			all = append(all, fmt.Sprintf("artifact %s%s %d: %d+%d", b.Artifact.MediaType, b.Artifact.Name, b.Artifact.Size, len(b.Artifact.Head), len(b.Artifact.Tail)))
		default:
			all = append(all, fmt.Sprintf("%s %d", b.Kind, len(b.Text)+len(b.JSON)+len(b.Data)))
		}
	}
	return all
}

func TestShape(t *testing.T) {
	text := func(n int) tool.Content { return tool.Text(strings.Repeat("x", n)) }
	value := func(n int) tool.Content { return tool.JSON(json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`)) }
	file := func(n int) tool.Content { return tool.File("f", "a/b", make([]byte, n)) }
	image := func(n int) tool.Content { return tool.Image("image/png", make([]byte, n)) }
	many := func(n, size int) (blocks []tool.Content) {
		for range n {
			blocks = append(blocks, text(size))
		}
		return blocks
	}
	for name, test := range map[string]struct {
		shown  int
		blocks []tool.Content
		want   []string
	}{
		"the default":                  {-1, []tool.Content{text(5000)}, []string{"artifact text/plain 5000: 3072+1024"}},
		"just the default":             {-1, []tool.Content{text(4000), value(96)}, []string{"text 4000", "json 96"}},
		"just too much":                {100, []tool.Content{text(101)}, []string{"artifact text/plain 101: 75+25"}},
		"json":                         {100, []tool.Content{value(200)}, []string{"artifact application/json 200: 75+25"}},
		"nothing":                      {0, []tool.Content{text(1), text(0), value(2)}, []string{"artifact text/plain 1: 0+0", "text 0", "artifact application/json 2: 0+0"}},
		"small ones first":             {100, []tool.Content{text(10), text(1000), value(10)}, []string{"text 10", "artifact text/plain 1000: 60+20", "json 10"}},
		"two share":                    {100, []tool.Content{text(500), value(500), text(20)}, []string{"artifact text/plain 500: 30+10", "artifact application/json 500: 30+10", "text 20"}},
		"one of two just fits":         {100, []tool.Content{text(50), text(51)}, []string{"text 50", "artifact text/plain 51: 37+12"}},
		"no content":                   {0, nil, nil},
		"a small file":                 {100, []tool.Content{file(100)}, []string{"file 100"}},
		"a file over the budget":       {100, []tool.Content{file(101)}, []string{"artifact a/bf 101: 0+0"}},
		"a file of 64 KiB":             {1 << 30, []tool.Content{file(64 << 10)}, []string{"file 65536"}},
		"a file of more":               {1 << 30, []tool.Content{file(64<<10 + 1)}, []string{"artifact a/bf 65537: 0+0"}},
		"an image that models take":    {0, []tool.Content{image(5 << 20)}, []string{"image 5242880"}},
		"an image that is too large":   {0, []tool.Content{image(5<<20 + 1)}, []string{"artifact image/png 5242881: 0+0"}},
		"a few that do not fit":        {160, many(16, 11), []string{}},
		"many that do not fit":         {160, many(40, 11), []string{"artifact text/plain 479: 120+35"}},
		"many that fit":                {160, many(40, 4), []string{}},
		"more than a message may have": {20 << 20, []tool.Content{text(21 << 20)}, []string{"artifact text/plain 22020096: 786432+262144"}},
		"an artifact of the tool's own": {100, []tool.Content{{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{
			Handle: "artifact-1", Size: 7, Head: strings.Repeat("h", 100), Tail: strings.Repeat("t", 100)}}}, []string{"artifact  7: 75+25"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.Result{Content: test.blocks}, nil })}, withArtifacts(t))
			got := shaped(t, r, test.shown).Content
			// every block stays, or every block is an artifact
			if len(test.want) == 0 && test.want != nil {
				if len(got) != len(test.blocks) {
					t.Errorf("%d blocks of %d", len(got), len(test.blocks))
				}
				return
			}
			if diff := cmp.Diff(test.want, sketch(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for i, b := range got {
				if b.Artifact != nil && len(got) == len(test.blocks) && test.blocks[i].Artifact == nil {
					if whole := test.blocks[i].Text + string(test.blocks[i].JSON) + string(test.blocks[i].Data); stored(t, r, b.Artifact) != whole {
						t.Errorf("block %d is not kept as it was", i)
					}
				}
			}
		})
	}
}

// Whatever the text and the budget, the result shows parts of the text, cuts no character and does
// not exceed the budget. If lines are short, it shows whole lines.
func TestShapeOfMuchText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text string
	r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.TextResult(text), nil })}, withArtifacts(t))
	words := []string{"a", "ß", "漢", "🙂", "\n", "\r\n", " "}
	for range 300 {
		var b strings.Builder
		for range 200 + random.IntN(300) {
			b.WriteString(words[random.IntN(len(words))])
		}
		text = b.String()
		shown := random.IntN(len(text))
		a := shaped(t, r, shown).Content[0].Artifact
		switch {
		case a == nil:
			t.Fatalf("%d bytes with a budget of %d are shown", len(text), shown)
		case !strings.HasPrefix(text, a.Head) || !strings.HasSuffix(text, a.Tail) || len(a.Head)+len(a.Tail) > shown:
			t.Fatalf("a budget of %d shows the beginning %q and the end %q of\n%q", shown, a.Head, a.Tail, text)
		case !utf8.ValidString(a.Head) || !utf8.ValidString(a.Tail):
			t.Fatalf("a letter is cut: %q, %q", a.Head, a.Tail)
		case len(a.Head)+len(a.Tail) < shown/2-8:
			t.Fatalf("a budget of %d shows only %d bytes", shown, len(a.Head)+len(a.Tail))
		}
	}
	text = strings.Repeat("a line of it\n", 1000)
	a := shaped(t, r, 1000).Content[0].Artifact
	if !strings.HasSuffix(a.Head, "it\n") || !strings.HasPrefix(a.Tail, "a line") {
		t.Errorf("lines are cut: %q, %q", a.Head[len(a.Head)-20:], a.Tail[:20])
	}
}

// Shaping changes only the content, also of a result that is an error.
func TestShapeLeavesTheRest(t *testing.T) {
	want := tool.Result{
		Content: []tool.Content{tool.Text(strings.Repeat("x", 5000))}, Cost: 2, Usage: tool.Usage{InputTokens: 3},
		Effects:  []tool.Effect{{Key: "k", Operation: tool.EffectReplace, Value: json.RawMessage(`"` + strings.Repeat("e", 5000) + `"`)}},
		Metadata: map[string]json.RawMessage{"m": json.RawMessage(`"` + strings.Repeat("m", 5000) + `"`)},
	}
	r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return want, nil })}, withArtifacts(t))
	got := shaped(t, r, -1)
	if got.Content[0].Artifact == nil {
		t.Errorf("got %+v", got.Content)
	}
	got.Content, want.Content, got.Duration = nil, nil, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = tool.ErrorResult(strings.Repeat("wrong ", 1000))
	if got := shaped(t, r, -1); !got.IsError || got.Content[0].Artifact == nil {
		t.Errorf("an error became %+v", got)
	}
}

// Filters get and return whole results. The result that they leave is shaped once.
func TestFiltersSeeAllOfAResult(t *testing.T) {
	seen := 0
	double := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		seen = len(q.Result.Text())
		result := tool.TextResult(q.Result.Text() + q.Result.Text())
		return filterjson.EncodeAnswer(filterjson.Answer{Result: &result})
	}
	r, _ := newFilterRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.TextResult(strings.Repeat("x", 9000)), nil })},
		map[string]filterFunc{"after": double}, withArtifacts(t), host.Filter{Name: "after", Tools: []string{"answer"}})
	got := shaped(t, r, 100)
	if seen != 9000 {
		t.Errorf("the filter saw %d bytes of 9000", seen)
	}
	if diff := cmp.Diff([]string{"artifact text/plain 18000: 75+25"}, sketch(got.Content)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If an artifact cannot be stored, the model and the log learn what is lost, and the call has its
// result.
func TestResultThatCannotBeKept(t *testing.T) {
	var log bytes.Buffer
	blocks := []tool.Content{tool.Text(strings.Repeat("line\n", 1000)), tool.File("f.bin", "a/b", make([]byte, 5000)), tool.Text("small")}
	store := withStore(t, artifact.Config{MaxBytes: 1000})
	r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.Result{Content: blocks}, nil })}, func(c *host.Config) {
		store(c)
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	got := shaped(t, r, 405)
	if len(got.Content) != 3 || got.IsError {
		t.Fatalf("got %+v", got)
	}
	first := got.Content[0].Text
	if !strings.HasPrefix(first, "line\nline\n") || !strings.HasSuffix(first, "line\nline\n") || len(first) > 800 ||
		!strings.Contains(first, "[4600 of the 5000 bytes of this content (text/plain) are lost: toolhost could not keep them (keeping an artifact of 5000 bytes") {
		t.Errorf("the text became %q", first)
	}
	if file := got.Content[1].Text; !strings.HasPrefix(file, "[5000 of the 5000 bytes of this content (f.bin, a/b) are lost") {
		t.Errorf("the file became %q", file)
	}
	if got.Content[2].Text != "small" {
		t.Errorf("the small block became %+v", got.Content[2])
	}
	if !strings.Contains(log.String(), "a large result was not kept") {
		t.Errorf("the log has %q", log.String())
	}
}

// The folder of artifacts is removed while the host runs.
func TestArtifactsFolderIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.TextResult(strings.Repeat("x", 9000)), nil })},
		withStore(t, artifact.Config{Dir: dir}))
	a := shaped(t, r, 100).Content[0].Artifact
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: a.Handle}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("reading what somebody removed: %v", err)
	}
	if got := shaped(t, r, 100).Content[0].Text; !strings.Contains(got, "8900 of the 9000 bytes of this content (text/plain) are lost") {
		t.Errorf("got %q", got)
	}
}

// Without a store, results stay whole whatever the caller asks for, and there are no artifacts to
// read.
func TestWithoutAStore(t *testing.T) {
	r := newRig(t, []hosttest.Tool{answering(func() (tool.Result, error) { return tool.TextResult(strings.Repeat("x", 9000)), nil })}, nil)
	if got := shaped(t, r, 10).Content[0].Text; len(got) != 9000 {
		t.Errorf("%d bytes are shown", len(got))
	}
	if _, err := r.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: "artifact-1"}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("got %v", err)
	}
}
