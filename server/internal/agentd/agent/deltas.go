package agent

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text/partialjson"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// deltas shows a response to the run's watchers while the model writes it: text, reasoning, the
// arguments of calls, and the answer of a run with a response schema. It serves one attempt at one
// response, in the goroutine that reads the response.
type deltas struct {
	request *modelRequest
	calls   map[int]*shownCall // by index in the response
	answer  answerStream
	text    bool // the text of the response may be the answer
}

// shownCall is a call that the model is writing.
type shownCall struct {
	id   string
	tool string // clipped: each delta repeats the name, which is of the model's choice
	rest []byte // the beginning of a character whose other bytes have not arrived
}

func (q *modelRequest) show() *deltas {
	return &deltas{request: q, calls: make(map[int]*shownCall), text: len(q.started.ResponseSchema) > 0}
}

// chunk shows a chunk of the response.
func (d *deltas) chunk(c *model.Chunk) {
	switch {
	case c.TextDelta != nil && c.TextDelta.Text != "":
		d.pass(&loop.TextDelta{Text: c.TextDelta.Text})
		if d.text {
			d.showAnswer(c.TextDelta.Text)
		}
	case c.ReasoningDelta != nil && c.ReasoningDelta.Text != "":
		d.pass(&loop.ReasoningDelta{Text: c.ReasoningDelta.Text})
	case c.CallBegun != nil && d.calls[c.CallBegun.Index] == nil:
		d.begin(c.CallBegun)
	case c.ArgumentDelta != nil && d.calls[c.ArgumentDelta.Index] != nil:
		d.arguments(d.calls[c.ArgumentDelta.Index], c.ArgumentDelta.Text)
	}
}

// begin notes a call. The text of a response with calls is no answer, but the arguments of the
// first call of final_answer are one.
func (d *deltas) begin(c *model.CallBegun) {
	q := d.request
	d.calls[c.Index] = &shownCall{id: loop.CallID(q.started.RunID, q.turn, c.Index), tool: loop.Clip(c.Name)}
	if d.text {
		d.text, d.answer = false, answerStream{}
	}
	if len(q.started.ResponseSchema) > 0 && c.Name == loop.SystemFinalAnswer && d.answer.callID == "" {
		d.answer.callID = d.calls[c.Index].id
	}
}

func (d *deltas) arguments(c *shownCall, text string) {
	if c.id == d.answer.callID {
		d.showAnswer(text)
	}
	whole := append(c.rest, text...)
	end := len(whole)
	for i := 1; i < utf8.UTFMax && i <= len(whole); i++ {
		if at := len(whole) - i; utf8.RuneStart(whole[at]) {
			if !utf8.FullRune(whole[at:]) {
				end = at
			}
			break
		}
	}
	c.rest = bytes.Clone(whole[end:])
	if end > 0 {
		d.pass(&loop.ArgumentDelta{CallID: c.id, Tool: c.tool, Text: string(whole[:end])})
	}
}

func (d *deltas) showAnswer(piece string) {
	if shown := d.answer.add(piece, time.Now()); shown != nil {
		d.pass(&loop.AnswerDelta{Answer: shown})
	}
}

// finish shows the answer as it is at the end of the response.
func (d *deltas) finish() {
	if shown := d.answer.next(); shown != nil {
		d.pass(&loop.AnswerDelta{Answer: shown})
	}
}

func (d *deltas) pass(p loop.Payload) {
	d.request.run.report(update{task: d.request.task, passing: p})
}

const (
	// answerEvery is the shortest time between two shown states of an answer. A person sees no more,
	// and each state repeats those before it.
	answerEvery = 100 * time.Millisecond
	// mostAnswer is the size in bytes from which an answer is shown no more while the model writes
	// it. Ten states of that size per second are what a local watcher can follow.
	mostAnswer = 64 << 10
)

// answerStream follows the text of an answer. The zero value is ready.
type answerStream struct {
	callID string // the call whose arguments are the answer; empty: the text of the response
	parser partialjson.Parser
	size   int
	shown  json.RawMessage
	at     time.Time
}

// add takes a piece of the text and returns the object so far if it is time to show it, or nil.
func (a *answerStream) add(piece string, now time.Time) json.RawMessage {
	if a.size += len(piece); a.size > mostAnswer {
		return nil
	}
	_, _ = a.parser.Write([]byte(piece)) // text that is no JSON has no value from there on
	if now.Sub(a.at) < answerEvery {
		return nil
	}
	shown := a.next()
	if shown != nil {
		a.at = now
	}
	return shown
}

// next returns the object so far if it has changed since it was shown, or nil.
func (a *answerStream) next() json.RawMessage {
	if a.size > mostAnswer {
		return nil
	}
	value := bytes.TrimSpace(bytes.ToValidUTF8(a.parser.Value(), []byte("\uFFFD")))
	if len(value) == 0 || value[0] != '{' || bytes.Equal(value, a.shown) {
		return nil
	}
	a.shown = value
	return value
}
