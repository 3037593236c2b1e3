package scripted

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Model answers from a script. It is safe for concurrent use.
type Model struct {
	name      string
	turns     []turn // of the conversations that no task fits
	tasks     []task
	summaries []turn
	features  model.Features

	mu     sync.Mutex
	failed map[digest]int // number of errors that a conversation has received for its present turn
}

// task has the turns of the conversations whose first prompt contains a text.
type task struct {
	prompt string
	turns  []turn
}

// Name returns "scripted:" and the script's name.
func (m *Model) Name() string { return "scripted:" + m.name }

// Features returns the types of attachments that the script says.
func (m *Model) Features() model.Features { return m.features }

// Generate streams the next turn of the conversation; see the package comment. A script that is too
// short and a template that fails are errors that are not retryable.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		s := &stream{ctx: ctx, yield: yield}
		if err := m.play(s, newConversation(req)); err != nil && !s.left {
			yield(model.Chunk{}, err)
		}
	}
}

func (m *Model) play(s *stream, c *conversation) error {
	t, ok := m.next(c)
	if !ok {
		return m.tooShort(c)
	}
	// computed only for a turn with errors, because the time is proportional to the conversation
	var id digest
	if len(t.failures) > 0 {
		id = c.digest()
		if n := m.seen(id); n < len(t.failures) {
			return m.fail(s, c, &t.failures[n], id)
		}
	}
	if t.answer == nil {
		return m.tooShort(c)
	}
	err := s.entry(t.answer, c)
	if s.done {
		m.forget(id)
	}
	return m.explain(t.answer, err)
}

// fail plays an entry that ends with an error. If the reader stops early, the error does not count
// as received.
func (m *Model) fail(s *stream, c *conversation, e *entry, id digest) error {
	if err := s.entry(e, c); err != nil || s.left {
		return m.explain(e, err)
	}
	m.count(id)
	failure := *e.failure
	failure.Usage = e.usage
	return &failure
}

// next returns the entry for the request: a turn, or a summary if the request asks for one. It
// returns false if the script has no further entry.
func (m *Model) next(c *conversation) (turn, bool) {
	list, number := m.turns, c.answers+1
	if i := slices.IndexFunc(m.tasks, func(t task) bool { return strings.Contains(c.firstPrompt, t.prompt) }); i >= 0 {
		list = m.tasks[i].turns
	}
	if c.req.Summary > 0 {
		list, number = m.summaries, c.req.Summary
	}
	if number > len(list) {
		return turn{}, false
	}
	return list[number-1], true
}

func (m *Model) tooShort(c *conversation) error {
	words := "the script %s ends before turn %d: add that turn, or let the one before it make no calls"
	number := c.answers + 1
	if c.req.Summary > 0 {
		words, number = "the script %s has no summary %d: the conversation is to be summed up, so add it to summaries", c.req.Summary
	}
	return &model.Error{Message: fmt.Sprintf(words, m.name, number)}
}

// explain converts an error in an entry into an *Error with its place.
func (m *Model) explain(e *entry, err error) error {
	switch err := err.(type) {
	case nil:
		return nil
	case *model.Error:
		return err
	}
	return &model.Error{Message: fmt.Sprintf("playing the turn of line %d of the script %s: %v", e.line, m.name, err), Err: err}
}

func (m *Model) seen(id digest) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed[id]
}

func (m *Model) count(id digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed[id]++
}

func (m *Model) forget(id digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failed, id)
}

// wait returns after d, or with ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// glance is the interval at which untilExists looks for the file.
const glance = 5 * time.Millisecond

// untilExists returns when the file exists, or with ctx's error.
func untilExists(ctx context.Context, file string) error {
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		if err := wait(ctx, glance); err != nil {
			return err
		}
	}
}
