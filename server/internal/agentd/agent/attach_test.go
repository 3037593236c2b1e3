package agent_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/attachment"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// reader is a model that reads some types of attachments.
type reader struct {
	*fakeModel
	types []string
}

func (m reader) Features() model.Features { return model.Features{Attachments: m.types} }

// reads lets the model of a configuration read types of attachments.
func reads(types ...string) func(*agent.Config) {
	return func(c *agent.Config) { c.Model = reader{c.Model.(*fakeModel), types} }
}

func photo(t *testing.T) loop.NewAttachment {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	return loop.NewAttachment{Name: "photo.png", Data: out.Bytes()}
}

func note(text string) loop.NewAttachment {
	return loop.NewAttachment{Name: "note.txt", MIMEType: "text/plain", Data: []byte(text)}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// attachments returns those of a request.
func attachments(req model.Request) (list []model.Attachment) {
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			if b.Attachment != nil {
				list = append(list, *b.Attachment)
			}
		}
	}
	return list
}

// Every request has the contents of the attachments, before the text that goes with them. The
// journal has only their digests.
func TestAttachments(t *testing.T) {
	m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("a photo")), response(model.StopEndTurn, text("and a note")))
	f := newFixture(t, m, newTools(echo), reads("image/png", "text/*"))
	pic, words := photo(t), note("remember the milk")
	f.start(loop.Task{Attachments: []loop.NewAttachment{pic}})
	f.end()
	f.Close()
	f.open(reads("image/png", "text/*")) // the rest is read from the journal and a snapshot
	if _, err := f.SendMessage(t.Context(), "r", "and this?", words); err != nil {
		t.Fatal(err)
	}
	f.end()
	want := model.Attachment{Name: "photo.png", MIMEType: "image/png", Data: pic.Data, Size: len(pic.Data), SHA256: digest(pic.Data)}
	wantNote := model.Attachment{Name: "note.txt", MIMEType: "text/plain", Data: words.Data, Size: len(words.Data), SHA256: digest(words.Data)}
	requests := m.seen()
	for i, list := range [][]model.Attachment{{want}, {want}, {want, wantNote}} {
		if diff := cmp.Diff(list, attachments(requests[i])); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i+1, diff)
		}
		checkPaired(t, requests[i].Messages)
	}
	if first := requests[0].Messages[0].Blocks; first[0].Attachment == nil || first[1].Text == nil || first[1].Text.Text != "hello" {
		t.Errorf("the first message is %+v", first)
	}
	for rec, err := range f.store.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(rec.Data, []byte(`"data"`)) || bytes.Contains(rec.Data, []byte("milk")) {
			t.Errorf("record %d has a content: %s", rec.Seq, rec.Data)
		}
	}
	events := f.watch(0)
	started := events[0].Payload.(*loop.RunStarted)
	want.Data = nil
	if diff := cmp.Diff([]loop.Attachment{{Attachment: want}}, started.Attachments); diff != "" {
		t.Errorf("the run started with (-want +got):\n%s", diff)
	}
}

// A model that does not read a type gets no run and no message with it, and the error says what the
// model reads.
func TestRefusesAttachmentsThatTheModelDoesNotRead(t *testing.T) {
	m := turns(response(model.StopEndTurn, text("ok")))
	f := newFixture(t, m, newTools(echo), nil)
	task := loop.Task{RunID: "r", Prompt: "hello", Attachments: []loop.NewAttachment{photo(t)}}
	_, err := f.StartRun(t.Context(), task)
	wantInvalid(t, err, "the model fake:model reads no attachments", `"photo.png"`)
	f.Close()
	f.open(reads("application/pdf", "text/*"))
	_, err = f.StartRun(t.Context(), task)
	wantInvalid(t, err, `does not read the attachment "photo.png", which is image/png; it reads application/pdf, text/*`)
	if _, err := f.GetRun(t.Context(), "r"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("the refused run exists: %v", err)
	}
	f.start(loop.Task{})
	f.end()
	_, err = f.SendMessage(t.Context(), "r", "look", photo(t))
	wantInvalid(t, err, "does not read")
	if events := f.watch(0); events[len(events)-1].Payload.Type() != loop.TypeRunFinished || len(m.seen()) != 1 {
		t.Error("the refused message is in the run")
	}
}

func wantInvalid(t *testing.T, err error, words ...string) {
	t.Helper()
	if tool.KindOf(err) != tool.KindInvalidArgument {
		t.Fatalf("the error is %v", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not contain %q", err, w)
		}
	}
}

// A caller cannot attach more than the bounds, and the bounds of a run hold across its messages.
func TestBoundsOfAttachments(t *testing.T) {
	m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
		return response(model.StopEndTurn, text("ok")), nil
	}}
	f := newFixture(t, m, newTools(echo), reads("text/*"))
	many := make([]loop.NewAttachment, attachment.MaxMessage+1)
	for i := range many {
		many[i] = note("x")
	}
	large := note(strings.Repeat("y", attachment.MaxMessageBytes/2+1))
	for what, files := range map[string][]loop.NewAttachment{
		"may have 20": many, "may have 12582912": {large, large}, "may have 10485760": {note(strings.Repeat("z", attachment.MaxBytes+1))},
		"is empty": {note("")}, "is a path": {{Name: "../x", Data: []byte("x")}}, "several contents": {{Data: []byte("x"), Artifact: "h"}},
		"send data or the handle": {{SHA256: digest([]byte("x"))}},
	} {
		_, err := f.StartRun(t.Context(), loop.Task{Prompt: "hello", Attachments: files})
		wantInvalid(t, err, what)
	}
	f.start(loop.Task{Attachments: many[1:]})
	f.end()
	for range attachment.MaxRun/attachment.MaxMessage - 1 {
		if _, err := f.SendMessage(t.Context(), "r", "more", many[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.SendMessage(t.Context(), "r", "more", note("x"))
	wantInvalid(t, err, "run r", "a run may have 100")
}

// The content in the journal is what the model gets, or the run ends: never something else, and
// never nothing.
func TestLostContentsEndTheRun(t *testing.T) {
	for what, content := range map[string]func() ([]byte, error){
		"has changed":    func() ([]byte, error) { return []byte("something else"), nil },
		"has no content": func() ([]byte, error) { return nil, runstore.NoContent("r", "d") },
	} {
		m := turns(response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
			reads("text/*")(c)
			c.Store = &lossyStore{c.Store, content}
		})
		f.start(loop.Task{Attachments: []loop.NewAttachment{note("x")}})
		if end := f.end(); end.StopReason != loop.StopInternalError || !strings.Contains(end.Message, `the attachment "note.txt"`) || !strings.Contains(end.Message, what) {
			t.Errorf("the run ends with %+v, want %q", end, what)
		}
		if len(m.seen()) != 0 {
			t.Error("the model was asked without the attachment")
		}
	}
}

type lossyStore struct {
	runstore.Store
	content func() ([]byte, error)
}

func (s *lossyStore) Content(context.Context, string, string) ([]byte, error) { return s.content() }

// artifacts are those of one principal in one session.
func artifacts(t *testing.T, whole []byte, reads *int) func(context.Context, tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	return func(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
		*reads++
		if q.Handle != "art-1" || q.Session != "s" || ctx.Value(actorKey{}) != "red/ada" {
			return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there is no artifact %q", q.Handle)
		}
		rest := whole[min(q.Offset, uint64(len(whole))):]
		return tool.ArtifactPiece{Data: rest[:min(q.Limit, len(rest))], Size: uint64(len(whole)), Name: "report.txt"}, nil
	}
}

type actorKey struct{}

// agentd reads an artifact once, for the principal of the run. What others may not read does not
// exist for the run, and a request that is repeated reads nothing again.
func TestArtifactsAsAttachments(t *testing.T) {
	whole, fetched := []byte(strings.Repeat("line\n", 500_000)), 0
	m := turns(response(model.StopEndTurn, text("ok")))
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
		reads("text/*")(c)
		c.ReadArtifact = artifacts(t, whole, &fetched)
		c.ActFor = func(ctx context.Context, principal string, _ []string) context.Context {
			return context.WithValue(ctx, actorKey{}, principal)
		}
	})
	file := loop.NewAttachment{Artifact: "art-1", Session: "s"}
	for _, other := range []loop.Task{
		{Principal: "blue/eve", Attachments: []loop.NewAttachment{file}},
		{Principal: "red/bob", Attachments: []loop.NewAttachment{file}},
		{Principal: "red/ada", Attachments: []loop.NewAttachment{{Artifact: "art-2", Session: "s"}}},
		{Principal: "red/ada", Attachments: []loop.NewAttachment{{Artifact: "art-1"}}}, // in the session of the run
	} {
		other.Prompt = "hello"
		if _, err := f.StartRun(t.Context(), other); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("%+v: %v", other, err)
		}
	}
	fetched = 0
	task := loop.Task{Prompt: "hello", RunID: "r", Principal: "red/ada", Attachments: []loop.NewAttachment{file}}
	id, err := f.StartRun(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range f.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Payload.(*loop.RunStarted); ok {
			want := model.Attachment{Name: "report.txt", MIMEType: "text/plain", Size: len(whole), SHA256: digest(whole)}
			if diff := cmp.Diff([]loop.Attachment{{Attachment: want, Artifact: "art-1"}}, s.Attachments); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	if list := attachments(m.seen()[0]); len(list) != 1 || !bytes.Equal(list[0].Data, whole) {
		t.Error("the model did not get the artifact")
	}
	if fetched != 3 {
		t.Errorf("the artifact was read in %d pieces", fetched)
	}
	if _, err := f.StartRun(t.Context(), task); err != nil || fetched != 3 {
		t.Errorf("the repeated request: %v; %d reads", err, fetched)
	}
	task.Attachments = []loop.NewAttachment{{Artifact: "art-9"}}
	if _, err := f.StartRun(t.Context(), task); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("the same id with another artifact: %v", err)
	}
}

// A run with the same id and other attachments is another run.
func TestAttachmentsIdentifyTheRun(t *testing.T) {
	m := turns(response(model.StopEndTurn, text("ok")))
	f := newFixture(t, m, newTools(echo), reads("text/*"))
	task := loop.Task{RunID: "r", Prompt: "hello", Attachments: []loop.NewAttachment{note("a")}}
	for i, files := range [][]loop.NewAttachment{{note("a")}, {note("a")}, {note("b")}, nil, {note("a"), note("a")}} {
		task.Attachments = files
		_, err := f.StartRun(t.Context(), task)
		if conflict := tool.KindOf(err) == tool.KindConflict; conflict != (i > 1) || err != nil && !conflict {
			t.Errorf("start %d: %v", i, err)
		}
	}
	f.end()
}

// The quota counts what a principal attaches in a day, in prompts and messages.
func TestQuotaOfAttachments(t *testing.T) {
	m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
		return response(model.StopEndTurn, text("ok")), nil
	}}
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
		reads("text/*")(c)
		c.Quotas = agent.Quotas{Principal: agent.Quota{AttachedPerDay: 100}}
	})
	start := func(principal string, bytes int) (string, error) {
		return f.StartRun(t.Context(), loop.Task{Prompt: "hello", Principal: principal, Attachments: []loop.NewAttachment{note(strings.Repeat("x", bytes))}})
	}
	id, err := start("ada", 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.SendMessage(t.Context(), id, "more", note(strings.Repeat("y", 30))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SendMessage(t.Context(), id, "more", note(strings.Repeat("z", 11))); tool.KindOf(err) != tool.KindRateLimited || !strings.Contains(err.Error(), "attached 90 bytes today") {
		t.Errorf("101 bytes in a prompt and messages: %v", err)
	}
	if _, err := start("bob", 60); err != nil {
		t.Errorf("another principal: %v", err)
	}
}

// A summary replaces attachments by a note, and the model that writes the summary reads their
// names.
func TestSummaryReplacesAttachments(t *testing.T) {
	var summary, last model.Request
	m := &fakeModel{}
	m.answer = func(_ context.Context, req model.Request) (*model.Response, error) {
		switch {
		case req.Summary > 0:
			summary = req
			return response(model.StopEndTurn, text("a grey square")), nil
		case len(attachments(req)) == 0:
			last = req
			return response(model.StopEndTurn, text("done")), nil
		case len(req.Messages) == 1:
			return response(model.StopToolUse, call("a", "echo")), nil
		}
		return response(model.StopToolUse, call("b", loop.SystemCompact)), nil
	}
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) { withSystem(c); reads("image/png")(c) })
	pic := photo(t)
	f.start(loop.Task{Attachments: []loop.NewAttachment{pic}})
	if end := f.end(); end.Text != "done" {
		t.Fatalf("the run ends with %+v", end)
	}
	if words := firstText(summary); !strings.Contains(words, "photo.png (image/png, ") || strings.Contains(words, string(pic.Data)) {
		t.Errorf("the summary is requested with %q", words)
	}
	note := last.Messages[0].Blocks[1].Text.Text
	if !strings.Contains(note, "a grey square") || !strings.Contains(note, "these attachments were removed") || !strings.Contains(note, "photo.png") {
		t.Errorf("after the summary the model reads %q", note)
	}
}

// A sub-run gets the attachments that its call names, and no others. It reads its own copy.
func TestSubRunsGetNamedAttachments(t *testing.T) {
	var child model.Request
	var results []*model.ToolResult
	m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
		last := req.Messages[len(req.Messages)-1].Blocks
		switch first := req.Messages[0].Blocks; {
		case first[len(first)-1].Text.Text == "describe it":
			child = req
			return response(model.StopEndTurn, text("grey")), nil
		case len(req.Messages) == 1:
			return response(model.StopToolUse,
				newTask("a", `{"task":"describe it","attachments":["photo.png"]}`), newTask("b", `{"task":"describe it","attachments":["secret.txt"]}`)), nil
		}
		for _, b := range last {
			results = append(results, b.ToolResult)
		}
		return response(model.StopEndTurn, text("done")), nil
	}}
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
		withSystem(c)
		reads("image/png", "text/*")(c)
		c.Quotas = agent.Quotas{Principal: agent.Quota{AttachedPerDay: 200}}
	})
	pic := photo(t)
	f.start(loop.Task{Attachments: []loop.NewAttachment{pic, note("n")}})
	f.end()
	if list := attachments(child); len(list) != 1 || list[0].Name != "photo.png" || !bytes.Equal(list[0].Data, pic.Data) {
		t.Errorf("the sub-run got %d attachments", len(list))
	}
	if len(results) != 2 || results[0].IsError || !results[1].IsError || !strings.Contains(results[1].Content[0].Text, "None of your attachments has the name secret.txt") {
		t.Errorf("the results are %+v", results)
	}
}
