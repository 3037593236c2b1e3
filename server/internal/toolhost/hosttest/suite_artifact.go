package hosttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// everything is a budget that is larger than every result of the suite.
func everything() *int { return new(1 << 30) }

// within returns a call of the tool large with a budget in bytes.
func within(shown, bytes int, kind tool.ContentKind) tool.Call {
	c := call("large", fmt.Sprintf(`{"bytes":%d,"kind":%q}`, bytes, kind))
	c.MaxShown = &shown
	return c
}

// onlyArtifact returns the artifact between the small blocks of large.
func onlyArtifact(t *testing.T, r tool.Result) *tool.Artifact {
	t.Helper()
	if len(r.Content) != 3 || r.Content[1].Artifact == nil || r.Content[1].Kind != tool.ContentArtifact {
		t.Fatalf("the result is no artifact between two texts: %.200q", r.Text())
	}
	return r.Content[1].Artifact
}

// whole reads an artifact to its end.
func whole(t *testing.T, h Host, q tool.ArtifactQuery) (string, tool.ArtifactPiece) {
	t.Helper()
	var b strings.Builder
	for {
		q.Offset = uint64(b.Len())
		piece, err := h.ReadArtifact(bounded(t), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(piece.Data) == 0 {
			return b.String(), piece
		}
		b.Write(piece.Data)
	}
}

// A caller can read the whole artifact piece by piece.
func testArtifact(t *testing.T, h Host) {
	const size = 200_000
	for kind, want := range map[tool.ContentKind]struct{ mediaType, name, data string }{
		tool.ContentText: {"text/plain", "", pattern(size)},
		tool.ContentJSON: {"application/json", "", `"` + pattern(size) + `"`},
		tool.ContentFile: {"application/octet-stream", "large.bin", pattern(size)},
	} {
		a := onlyArtifact(t, result(t, h, within(1000, size, kind)))
		if a.Handle == "" || a.Size != uint64(len(want.data)) || a.MediaType != want.mediaType || a.Name != want.name {
			t.Errorf("%s: %+v", kind, a)
		}
		if !strings.HasPrefix(want.data, a.Head) || !strings.HasSuffix(want.data, a.Tail) || len(a.Head)+len(a.Tail) > 1000 {
			t.Errorf("%s: the beginning %.50q and the end %.50q of %d and %d bytes", kind, a.Head, a.Tail, len(a.Head), len(a.Tail))
		}
		if isFile := kind == tool.ContentFile; isFile != (a.Head == "") || isFile != (a.Tail == "") {
			t.Errorf("%s: the beginning has %d bytes, the end %d", kind, len(a.Head), len(a.Tail))
		}
		for _, limit := range []int{0, 30_000, size, 1 << 30} {
			got, last := whole(t, h, tool.ArtifactQuery{Handle: a.Handle, Limit: limit})
			if got != want.data {
				t.Errorf("%s in pieces of %d: %d bytes that are not those of the tool", kind, limit, len(got))
			}
			last.Data = nil
			if diff := cmp.Diff(tool.ArtifactPiece{MediaType: want.mediaType, Size: uint64(len(want.data)), Name: want.name}, last); diff != "" {
				t.Errorf("%s: behind the end (-want +got):\n%s", kind, diff)
			}
		}
	}
}

// Each call sets how much its result shows.
func testArtifactBudget(t *testing.T, h Host) {
	for _, shown := range []int{0, 100, 10_000, 90_000} {
		r := result(t, h, within(shown, 100_000, tool.ContentText))
		total := 0
		for _, c := range r.Content {
			total += len(c.Text)
			if c.Artifact != nil {
				total += len(c.Artifact.Head) + len(c.Artifact.Tail)
			}
		}
		if total > shown || total < shown/4 {
			t.Errorf("with a budget of %d bytes, %d are shown", shown, total)
		}
	}
	r := result(t, h, within(200_000, 100_000, tool.ContentText))
	if diff := cmp.Diff(summaries(largeContent("text", 100_000)), summaries(r.Content)); diff != "" {
		t.Errorf("with room for all (-want +got):\n%s", diff)
	}
	failed := call("fail", `{"message":"`+strings.Repeat("what went wrong ", 1000)+`"}`)
	failed.MaxShown = new(100)
	if r := result(t, h, failed); !r.IsError || len(r.Content) != 1 || r.Content[0].Artifact == nil {
		t.Errorf("an error that is too long: %+v", r)
	}
}

// A repeated call gets the same artifact.
func testArtifactReplay(t *testing.T, h Host) {
	c := within(100, 50_000, tool.ContentText)
	c.ID = "artifact-replay"
	first, again := do(t, h, c), do(t, h, c)
	if !again.Replayed {
		t.Error("the second is no replay")
	}
	if diff := cmp.Diff(onlyArtifact(t, first.Result), onlyArtifact(t, again.Result)); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

// Another session gets the same error for an artifact that it must not read as for one that does
// not exist.
func testArtifactOfAnotherSession(t *testing.T, h Host) {
	c := within(100, 50_000, tool.ContentText)
	c.Session = "mine"
	a := onlyArtifact(t, result(t, h, c))
	if got, _ := whole(t, h, tool.ArtifactQuery{Session: "mine", Handle: a.Handle}); got != pattern(50_000) {
		t.Errorf("its own session reads %d bytes", len(got))
	}
	for name, q := range map[string]tool.ArtifactQuery{
		"another session":     {Session: "other", Handle: a.Handle},
		"the default session": {Handle: a.Handle},
		"no such handle":      {Session: "mine", Handle: a.Handle + "x"},
		"no handle":           {Session: "mine"},
	} {
		if _, err := h.ReadArtifact(bounded(t), q); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("%s: got %v, want not_found", name, err)
		}
	}
	for name, q := range map[string]tool.ArtifactQuery{
		"a session that cannot be": {Session: "a b", Handle: a.Handle}, "a limit that cannot be": {Session: "mine", Handle: a.Handle, Limit: -1},
	} {
		if _, err := h.ReadArtifact(bounded(t), q); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: got %v, want invalid_argument", name, err)
		}
	}
}

// A tool that gets a handle can read the artifact of another tool in the same session.
func testArtifactFromToolToTool(t *testing.T, h Host) {
	const size = 300_000
	a := onlyArtifact(t, result(t, h, within(100, size, tool.ContentFile)))
	second := call("sum", fmt.Sprintf(`{"handle":%q}`, a.Handle))
	var got summed
	if err := json.Unmarshal([]byte(text(t, h, second)), &got); err != nil {
		t.Fatal(err)
	}
	want := summed{Size: size, MediaType: "application/octet-stream", Name: "large.bin", Sum: sumOf([]byte(pattern(size)))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tool saw (-want +got):\n%s", diff)
	}
	second.Session = "other"
	if r := result(t, h, second); !r.IsError {
		t.Errorf("in another session the tool saw %s", r.Text())
	}
}
