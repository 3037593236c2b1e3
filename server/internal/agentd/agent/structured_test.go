//go:build !race

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
)

// schemas is the number of generated schemas.
const schemas = 1000

// For generated schemas, a right answer is accepted at once, a wrong one is repaired, and the third
// wrong one ends the run with the reason. What a run ends with always fits its schema. A validator
// that shares no code with agentd's is the judge. Each run happens with a model that takes schemas
// and with one that calls final_answer.
func TestGeneratedSchemas(t *testing.T) {
	scripts, requests := map[string]answers{}, 0
	for seed := range schemas {
		whole := newAnswers(t, uint64(seed))
		for _, wrong := range []int{0, 1 + seed%3} {
			s := whole
			s.wrong = s.wrong[:wrong]
			scripts[fmt.Sprintf("s%d-%d", seed, wrong)] = s
			requests += min(wrong+1, 3)
		}
	}
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprintf("own_means_%t", own), func(t *testing.T) {
			m := &answering{own: own, scripts: scripts}
			a, err := agent.New(agent.Config{Store: memory.New(), Model: m, Tools: newTools(echo)})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			next := make(chan string)
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() { // ends with next
					for id := range next {
						scripts[id].check(t, a, id)
					}
				})
			}
			for id := range scripts {
				next <- id
			}
			close(next)
			workers.Wait()
			if n := m.requests(); n != requests {
				t.Errorf("the model was asked %d times, want %d", n, requests)
			}
		})
	}
}

// answers is a run with a schema: the wrong answers in order, and then the right one.
type answers struct {
	schema json.RawMessage
	judge  *jsonschema.Resolved
	wrong  []string
	right  string
}

func newAnswers(t *testing.T, seed uint64) answers {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 20))}
	whole := g.root()
	s := answers{schema: encoded(whole.schema), right: g.spaced(encoded(whole.value))}
	var schema jsonschema.Schema
	if err := json.Unmarshal(s.schema, &schema); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	var err error
	if s.judge, err = schema.Resolve(nil); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, s.schema)
	}
	if err := s.fits([]byte(s.right)); err != nil {
		t.Fatalf("seed %d: the right answer does not fit: %v\n%s\n%s", seed, err, s.schema, s.right)
	}
	for len(s.wrong) < 3 {
		if text := g.mutation(s.right); s.fits([]byte(text)) != nil {
			s.wrong = append(s.wrong, text)
		}
	}
	return s
}

// fits is the verdict of the independent validator.
func (s *answers) fits(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	if _, object := value.(map[string]any); !object {
		return fmt.Errorf("it is no object")
	}
	return s.judge.Validate(value)
}

// check starts the run and checks its end.
func (s answers) check(t *testing.T, a *agent.Agent, id string) {
	if _, err := a.StartRun(context.Background(), loop.Task{RunID: id, Prompt: id, ResponseSchema: s.schema}); err != nil {
		t.Errorf("%s: %v\n%s", id, err, s.schema)
		return
	}
	var end *loop.RunFinished
	turns := 0
	for e, err := range a.WatchRun(context.Background(), id, 0) {
		if err != nil {
			t.Errorf("%s: %v", id, err)
			return
		}
		switch p := e.Payload.(type) {
		case *loop.AssistantMessage:
			turns++
		case *loop.AnswerDelta:
			if !json.Valid(p.Answer) || p.Answer[0] != '{' {
				t.Errorf("%s: the partial answer is %s", id, p.Answer)
			}
		case *loop.RunFinished:
			end = p
		}
	}
	about := func() string {
		return fmt.Sprintf("%s: wrong %q, right %s, ended with %s (%s) and %s after %d responses\n%s", id, s.wrong, s.right, end.StopReason, end.Message, end.Result, turns, s.schema)
	}
	if len(s.wrong) > 2 {
		if end.StopReason != loop.StopInvalidAnswer || end.Result != nil || turns != 3 {
			t.Error(about())
		}
		return
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(s.right)); err != nil {
		t.Error(err)
	}
	if end.StopReason != loop.StopCompleted || turns != len(s.wrong)+1 || !bytes.Equal(end.Result, want.Bytes()) || s.fits(end.Result) != nil {
		t.Error(about())
	}
}

// answering is a model that gives the answers of a script, in the text or by final_answer. The
// prompt names the script.
type answering struct {
	own     bool // it takes schemas
	scripts map[string]answers

	mu    sync.Mutex
	asked int
}

func (*answering) Name() string { return "answering" }

func (m *answering) Features() model.Features { return model.Features{Schema: m.own} }

func (m *answering) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

func (m *answering) Generate(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.mu.Lock()
		m.asked++
		m.mu.Unlock()
		s := m.scripts[req.Messages[0].Blocks[0].Text.Text]
		n := len(req.Messages) / 2
		if err := m.complaint(&s, &req, n); err != "" {
			yield(model.Chunk{}, &model.Error{Message: err})
			return
		}
		answer := s.right
		if n < len(s.wrong) {
			answer = s.wrong[n]
		}
		for _, chunk := range m.chunks(answer, n) {
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// complaint returns what is wrong with a request, or nothing.
func (m *answering) complaint(s *answers, req *model.Request, n int) string {
	var offered json.RawMessage
	for _, t := range req.Tools {
		if t.Name == loop.SystemFinalAnswer {
			offered = t.InputSchema
		}
	}
	switch last := encoded(req.Messages[len(req.Messages)-1]); {
	case m.own && (!bytes.Equal(req.Schema, s.schema) || offered != nil):
		return fmt.Sprintf("asked with the schema %s and the tool %s", req.Schema, offered)
	case !m.own && (req.Schema != nil || !bytes.Equal(offered, s.schema)):
		return fmt.Sprintf("asked with the schema %s and the tool %s", req.Schema, offered)
	case n > 0 && !strings.Contains(string(last), "[invalid answer]"):
		return fmt.Sprintf("after a wrong answer the model reads %s", last)
	}
	return ""
}

// chunks returns a response with an answer, three bytes at a time.
func (m *answering) chunks(answer string, n int) (list []model.Chunk) {
	block := model.Block{ToolCall: &model.ToolCall{ID: "call_" + strconv.Itoa(n), Name: loop.SystemFinalAnswer, Arguments: answer}}
	if m.own {
		block = model.Block{Text: &model.Text{Text: answer}}
	} else {
		list = append(list, model.Chunk{CallBegun: &model.CallBegun{ID: block.ToolCall.ID, Name: block.ToolCall.Name}})
	}
	for at := 0; at < len(answer); at += 3 {
		piece := answer[at:min(at+3, len(answer))]
		if m.own {
			list = append(list, model.Chunk{TextDelta: &model.TextDelta{Text: piece}})
		} else {
			list = append(list, model.Chunk{ArgumentDelta: &model.ArgumentDelta{Text: piece}})
		}
	}
	return append(list, model.Chunk{Response: &model.Response{
		Message: model.Message{Role: model.RoleAssistant, Blocks: []model.Block{block}}, StopReason: model.StopEndTurn,
	}})
}

func encoded(v any) json.RawMessage {
	data, err := loop.Marshal(v)
	if err != nil {
		panic(err) // only maps, lists, texts and numbers
	}
	return data
}
