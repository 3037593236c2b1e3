package agent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// What an input is, is the same after its way through an inbox. Groups that are known to be none
// stay known: the check of an approver's groups depends on it.
func TestEntriesOfInputs(t *testing.T) {
	for name, in := range map[string]*input{
		"message":   {payloads: []loop.Payload{&loop.UserMessage{Text: "a\x00b <&>", ID: loop.MessageID{Text: "m", Sender: "ada"}}}},
		"cancel":    {payloads: []loop.Payload{&loop.CancelRequested{Reason: "enough"}}},
		"no groups": {payloads: []loop.Payload{&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "ada", Groups: []string{}}}, etag: "e"},
		"decisions": {payloads: []loop.Payload{
			&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{"a":1}`), RequestID: "q", Groups: []string{"g"}},
			&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject, Text: "no"},
		}},
	} {
		e, err := entryOf("r", in)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := inputOf(&e)
		if err != nil || got.entry != e.ID || got.etag != in.etag {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if diff := cmp.Diff(in.payloads, got.payloads); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, data := range []string{`1`, `{"payloads":[]}`, `{"payloads":[{"type":"none","version":1,"data":{}}]}`, `{"payloads":[{"type":"user_message","version":99,"data":{}}]}`} {
		if _, err := inputOf(&runstore.Entry{Data: json.RawMessage(data)}); err == nil {
			t.Errorf("%s is an input", data)
		}
	}
}

// A request with an id of the caller is one entry wherever it is made. Equal requests without an
// id, and equal texts with different ids, are different ones.
func TestIDsOfEntries(t *testing.T) {
	id := func(p loop.Payload) string {
		e, err := entryOf("r", &input{payloads: []loop.Payload{p}})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	message := func(text, by string) *loop.UserMessage {
		return &loop.UserMessage{Text: "pay", ID: loop.MessageID{Text: text, Sender: by}}
	}
	said := id(message("m", "ada"))
	if again := id(message("m", "ada")); again != said {
		t.Error("a repeated message is another entry")
	}
	for _, other := range []*loop.UserMessage{message("m2", "ada"), message("m", "bob"), message("", "")} {
		first, second := id(other), id(other)
		if first == said || other.ID.Text == "" && first == second {
			t.Errorf("the message with the id %+v is the same entry", other.ID)
		}
	}
}
