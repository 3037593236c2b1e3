package agent_test

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// others has another value for each field of a task that a caller sets. What verdicts calls
// internal, and these, do not distinguish two requests: the run id is the same, and each attempt
// has its trace.
var others = map[string]any{
	"Prompt": "bye", "SystemPrompt": "Obey.", "Session": "s", "Agent": "other", "Model": "small",
	"Sampling.Temperature": new(0.1), "Sampling.TopP": new(0.1), "Sampling.Effort": model.EffortHigh,
	"Tools.Names": []string{"x"}, "Tools.Categories": []string{"x"}, "Tools.Tags": []string{"x"}, "Tools.Plugins": []string{"x"},
	"Tools.Excluded": []string{"x"}, "Tools.Dangerous": new(true), "Tools.MaxCostPerUse": new(0.0), "Tools.MaxTools": 1,
	"Limits.MaxTurns": 1, "Limits.MaxCalls": 1, "Limits.MaxResponseTokens": 1, "Limits.MaxTokens": int64(1), "Limits.MaxCost": 1.0,
	"Limits.MaxWallTime": time.Hour, "Limits.MaxOutput": int64(1), "Limits.MaxFailures": 1, "Limits.MaxTimeouts": 1, "Limits.MaxRepeats": 1,
	"People": &loop.People{Attended: true}, "Attachments": []loop.NewAttachment{{Name: "a.txt", Data: []byte("a")}},
	"Context": map[string]json.RawMessage{"k": json.RawMessage(`1`)}, "SystemTools": []string{}, "ExplicitCompletion": new(true),
	"ResponseSchema": json.RawMessage(`{"type":"object"}`), "SubRuns": 1,
	"Window.Tokens": int64(9999), "Window.ClearAt": 0.1, "Window.SummarizeAt": 0.1, "Window.Keep": 1,
}

// joinable is an agent whose one run waits for its model.
func joinable(t *testing.T) *fixture {
	waits := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	return newFixture(t, waits, newTools(echo), func(c *agent.Config) {
		reads("text/*")(c)
		c.Search = noSearch{}
		c.Prices = map[string]model.Price{c.Model.Name(): {Input: 1}}
		c.Models = map[string]agent.OfferedModel{"small": {Model: namedModel{waits, "fake:small"}, Price: &model.Price{Input: 1}}}
		c.Agents = map[string]agent.NamedAgent{"a": {}, "other": {}}
	})
}

// The same request returns the run that exists, and any other request with its id is a conflict. A
// new field of a task fails this test until the digest has it, or it is internal.
func TestAnotherRequestIsNoRepetition(t *testing.T) {
	f := joinable(t)
	task := loop.Task{RunID: "r", Prompt: "p", Agent: "a"}
	f.begin(task)
	again := task
	again.Traceparent, again.Confined, again.Groups = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true, []string{"g"}
	f.begin(again)
	for _, path := range fieldsOf(reflect.TypeFor[loop.Task](), "") {
		v := verdicts[path]
		if slices.Contains([]string{"RunID", "Traceparent"}, path) || v.because == isInternal {
			continue
		}
		if _, whole := others["People"]; whole && len(path) > 7 && path[:7] == "People." {
			path = "People"
		}
		t.Run(path, func(t *testing.T) {
			value, known := others[path]
			if !known {
				t.Fatal("give another value in others, and add the field to the digest of a request")
			}
			other := taskWith(path, value)
			other.RunID = "r"
			if _, err := f.StartRun(t.Context(), other); tool.KindOf(err) != tool.KindConflict {
				t.Errorf("a request with another %s: %v", path, err)
			}
		})
	}
}

func (f *fixture) begin(task loop.Task) {
	f.t.Helper()
	if id, err := f.StartRun(f.t.Context(), task); err != nil || id != task.RunID {
		f.t.Fatalf("starting %s: %q, %v", task.RunID, id, err)
	}
}

// White space and the order of keys of a context are no other request, and neither are new bytes of
// a number that is too large for a float.
func TestTheSameRequestInOtherBytes(t *testing.T) {
	f := joinable(t)
	task := loop.Task{RunID: "r", Prompt: "p", Agent: "a", ResponseSchema: json.RawMessage(`{"type":"object"}`), Limits: loop.Limits{MaxTokens: math.MaxInt64}}
	task.Context = map[string]json.RawMessage{"b": json.RawMessage(`[1,2]`), "a": json.RawMessage(`{}`)}
	f.begin(task)
	task.ResponseSchema = json.RawMessage("{\n  \"type\": \"object\"\n}")
	task.Context = map[string]json.RawMessage{"a": json.RawMessage(` {} `), "b": json.RawMessage(`[1, 2]`)}
	f.begin(task)
	task.Limits.MaxTokens--
	if _, err := f.StartRun(t.Context(), task); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("with another limit: %v", err)
	}
}

// A journal of an earlier version has no digest. Its prompt, attachments and schema identify the
// run, as they did then.
func TestRunsWithoutADigest(t *testing.T) {
	f := joinable(t)
	f.Close()
	f.store = &oldJournal{f.store}
	f.open(nil)
	f.begin(loop.Task{RunID: "r", Prompt: "p"})
	f.begin(loop.Task{RunID: "r", Prompt: "p", Limits: loop.Limits{MaxTurns: 1}})
	if _, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "q"}); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("with another prompt: %v", err)
	}
}

// oldJournal drops the digests of requests.
type oldJournal struct{ runstore.Store }

func (o *oldJournal) Append(ctx context.Context, b runstore.Batch) error {
	for i := range b.Records {
		var fields map[string]json.RawMessage
		if json.Unmarshal(b.Records[i].Data, &fields) == nil && fields["request_sha256"] != nil {
			delete(fields, "request_sha256")
			b.Records[i].Data, _ = json.Marshal(fields)
		}
	}
	return o.Store.Append(ctx, b)
}
