package loop_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/snapshot"
	"github.com/toolhost/toolhost/tool"
)

// archive keeps a run's snapshots as a store does, and compares each restored state with the
// original.
type archive struct {
	every    int  // the smallest number of events between snapshots
	unread   bool // snapshots are not restored
	waited   int
	kept     snapshot.Kept
	snapshot runstore.Snapshot
	renewals []*runstore.Renewal
	recalled []loop.State
}

func (a *archive) note(f *folder) {
	f.t.Helper()
	if a.waited++; a.waited < a.every {
		return
	}
	e := f.events[len(f.events)-1]
	data, err := json.Marshal(e.Payload)
	if err != nil {
		f.t.Fatal(err)
	}
	rec := runstore.Record{Seq: e.Seq, Time: e.Time, Type: string(e.Payload.Type()), Version: 1, Data: data}
	renewal, kept, err := snapshot.Make(&f.state, a.kept, &rec)
	if err != nil {
		f.t.Fatal(err)
	}
	if renewal == nil {
		return
	}
	a.waited, a.kept = 0, kept
	a.renewals = append(a.renewals, renewal)
	if a.snapshot = renewed(a.snapshot, renewal); a.unread {
		return
	}
	recalled, again, err := snapshot.Read(&a.snapshot)
	if err != nil {
		f.t.Fatalf("the snapshot after event %d: %v", e.Seq, err)
	}
	wantState(f.t, &f.state, &recalled)
	if diff := difference(kept, again, whole()); diff != "" {
		f.t.Fatalf("after event %d, what is kept is taken for something else:\n%s", e.Seq, diff)
	}
	a.recalled = append(a.recalled, recalled)
}

// check folds the events after some of the snapshots.
func (a *archive) check(f *folder) {
	f.t.Helper()
	for i := 0; i < len(a.recalled); i += 1 + len(a.recalled)/3 {
		s := a.recalled[i]
		for _, e := range f.events[s.Seq():] {
			if err := s.Apply(e); err != nil {
				f.t.Fatal(err)
			}
		}
		wantState(f.t, &f.state, &s)
	}
}

func renewed(s runstore.Snapshot, r *runstore.Renewal) runstore.Snapshot {
	return runstore.Snapshot{State: r.State, Parts: slices.Concat(s.Parts[:r.Keep], r.Parts)}
}

// whole compares everything except what is computed on demand.
func whole() cmp.Options {
	return cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty(),
		cmp.FilterPath(func(p cmp.Path) bool {
			field, ok := p.Last().(cmp.StructField)
			if !ok || field.Name() == "index" || field.Name() == "known" {
				return ok
			}
			want, got := field.Values() // most values are equal, which reflect detects much faster
			return want.IsValid() && got.IsValid() && reflect.DeepEqual(want.Interface(), got.Interface())
		}, cmp.Ignore()),
	}
}

func wantState(t *testing.T, want, got *loop.State) {
	t.Helper()
	if diff := difference(want, got, whole()); diff != "" {
		t.Fatalf("after event %d, what is recalled is not what was kept (-want +got):\n%s", want.Seq(), diff)
	}
}

// everything is a conversation with all that a conversation can contain.
func everything(t *testing.T) *folder {
	f := newFolderOf(t, loop.RunStarted{
		SystemTools: loop.SystemTools(), SubRuns: 1, SystemPrompt: "be brief", Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		Context: map[string]json.RawMessage{"k": json.RawMessage(`{"a":"<&>"}`)}, People: loop.People{Attended: true},
		Window: loop.Window{Tokens: 1 << 30}, Limits: loop.Limits{MaxTimeouts: 3, MaxRepeats: 100},
	})
	f.kept = &archive{every: 1}
	f.respond(model.StopToolUse, text("I <look> & see\u2028"), model.Block{Opaque: &model.Opaque{Provider: "p", JSON: json.RawMessage(`{"signed":"<>"}`)}},
		call("a", "echo"), call("b", "echo"), call("c", "echo"), call("d", "missing"), call("e", "bad name"))
	f.add(&loop.UserMessage{Text: "hurry"})
	f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.Result{
		Content: []tool.Content{
			tool.Text("plain"), tool.Text(""), tool.JSON(json.RawMessage(`{"b":[1,2.50]}`)), tool.Image("image/png", []byte{0, 255}),
			{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h", Size: 7, Head: "x"}},
		},
		Effects: []tool.Effect{effect("todos", tool.EffectReplace, `["one"]`)}, Cost: 0.1, Usage: tool.Usage{InputTokens: 1 << 60},
	}})
	f.failed("r.t1.c1", tool.KindTimeout)
	f.add(&loop.CallResult{CallID: "r.t1.c2", Result: tool.TextResult(strings.Repeat("long ", 1000))})
	f.respond(model.StopEndTurn, text("done"))
	f.add(&loop.UserMessage{Text: "more"})
	f.respond(model.StopToolUse, call("f", "echo"))
	f.result("r.t3.c0", "plain")
	return f
}

func TestASnapshotHasEverything(t *testing.T) {
	f := everything(t)
	f.kept.check(f)
	if n := len(f.kept.recalled); n < 5 {
		t.Errorf("there were %d snapshots only", n)
	}
	if n := len(f.kept.snapshot.Parts); n < 3 {
		t.Errorf("there are %d parts only", n)
	}
}

var update = flag.Bool("update", false, "write the stored snapshot again")

// The stored snapshot of an earlier agentd equals the state of the same events today. If the
// encoding or Apply has changed, raise snapshotVersion, so that older snapshots are ignored.
func TestAKeptSnapshot(t *testing.T) {
	file := filepath.Join("testdata", "snapshot-v3.json")
	f := everything(t)
	if *update {
		data, err := json.Marshal(f.kept.snapshot)
		if err := errors.Join(err, os.WriteFile(file, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	var kept runstore.Snapshot
	if err := errors.Join(err, json.Unmarshal(data, &kept)); err != nil {
		t.Fatal(err)
	}
	recalled, _, err := snapshot.Read(&kept)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, &f.state, &recalled)
}

// The bytes written grow linearly with the run, and the number of parts stays small.
func TestASnapshotAddsLittle(t *testing.T) {
	const turns, every = 1200, 16
	f := newFolderOf(t, loop.RunStarted{Limits: loop.Limits{MaxTurns: turns + 1, MaxCalls: turns, MaxRepeats: turns}})
	f.kept = &archive{every: every, unread: true}
	for i := range turns {
		f.respond(model.StopToolUse, call(fmt.Sprint("id", i), "echo"))
		f.result(fmt.Sprintf("r.t%d.c0", i+1), fmt.Sprint("the answer to question ", i))
	}
	f.kept.unread, f.kept.waited = false, every
	f.respond(model.StopEndTurn, text("done"))
	journal, written, most := 0, 0, 0
	for _, e := range f.events {
		data, err := json.Marshal(e.Payload)
		if err != nil {
			t.Fatal(err)
		}
		journal += len(data)
	}
	for _, r := range f.kept.renewals {
		written += len(r.State)
		for _, part := range r.Parts {
			written += len(part)
		}
		most = max(most, r.Keep+len(r.Parts))
	}
	if written > 2*journal || most > 64 || len(f.kept.renewals) < 80 {
		t.Errorf("%d snapshots have %d bytes in all and up to %d parts, beside a journal of %d bytes", len(f.kept.renewals), written, most, journal)
	}
}

// Reading anything but an intact snapshot fails without a panic.
func TestSnapshotsOfNoUse(t *testing.T) {
	good := everything(t).kept.snapshot
	if _, _, err := snapshot.Read(&good); err != nil {
		t.Fatal(err)
	}
	without := func(i int) [][]byte { return slices.Delete(slices.Clone(good.Parts), i, i+1) }
	version := slices.Clone(good.State)
	version[4]++
	for name, bad := range map[string]runstore.Snapshot{
		"nothing":                 {},
		"another version":         {State: resealed(version), Parts: good.Parts},
		"a part is missing":       {State: good.State, Parts: without(1)},
		"the first is missing":    {State: good.State, Parts: without(0)},
		"a part too many":         {State: good.State, Parts: append(slices.Clone(good.Parts), good.Parts[1])},
		"parts in another order":  {State: good.State, Parts: append(without(1), good.Parts[1])},
		"a part of another run":   {State: good.State, Parts: slices.Replace(slices.Clone(good.Parts), 1, 2, good.Parts[2])},
		"an empty part":           {State: good.State, Parts: append(without(1), nil)},
		"a state that is no JSON": {State: resealed([]byte("\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02{]")), Parts: nil},
	} {
		if _, _, err := snapshot.Read(&bad); err == nil {
			t.Errorf("%s: it was recalled", name)
		}
	}
	for i := range good.State {
		torn := slices.Clone(good.State)
		torn[i] ^= 1
		if _, _, err := snapshot.Read(&runstore.Snapshot{State: torn, Parts: good.Parts}); err == nil {
			t.Fatalf("a state with another byte %d was recalled", i)
		}
	}
}

// resealed sets the checksum at the beginning of data.
func resealed(data []byte) []byte {
	binary.BigEndian.PutUint32(data, crc32.Checksum(data[4:], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

// Reading arbitrary data with a correct checksum returns an error or a state.
func FuzzRecall(f *testing.F) {
	f.Fuzz(func(_ *testing.T, state, part []byte) {
		state, part = resealed(append(make([]byte, 4), state...)), resealed(append(make([]byte, 4), part...))
		_, _, _ = snapshot.Read(&runstore.Snapshot{State: state, Parts: [][]byte{part}})
		// A state that matches the part, so that the part is read.
		head := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0, 1, 1}, crc32.Checksum(part[:4], crc32.MakeTable(crc32.Castagnoli)))
		hot := `{"seq":1,"last":"AAAAAAAAAAAAAAAAAAAAAA=="}`
		head = append(append(head, byte(len(hot))), hot...)
		_, _, _ = snapshot.Read(&runstore.Snapshot{State: resealed(append(head, 0, 0, 0, 0, 0, 0)), Parts: [][]byte{part}})
	})
}
