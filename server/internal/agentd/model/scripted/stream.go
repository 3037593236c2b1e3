package scripted

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// stream passes the chunks of one entry to the reader.
type stream struct {
	ctx   context.Context
	yield func(model.Chunk, error) bool
	left  bool // the reader has stopped
	done  bool // the response has been passed
}

// entry plays an entry: its delay, its deltas and, unless it fails, its response.
func (s *stream) entry(e *entry, c *conversation) error {
	// All templates are rendered first, so that an invalid template leaves no partial response.
	message, err := e.message(c)
	if err != nil {
		return err
	}
	pauses, err := e.pauses(c)
	if err != nil {
		return err
	}
	if err := wait(s.ctx, e.delay); err != nil {
		return err
	}
	if err := s.deltas(message, pauses, e.chunks); err != nil || s.left || e.failure != nil {
		return err
	}
	s.done = true
	return s.send(model.Chunk{Response: &model.Response{Message: message, StopReason: e.stopReason(), Usage: e.usage}})
}

func (e *entry) message(c *conversation) (model.Message, error) {
	message := model.Message{Role: model.RoleAssistant}
	text, err := e.text.render(c)
	if err != nil {
		return model.Message{}, err
	}
	if text != "" {
		message.Blocks = append(message.Blocks, model.Block{Text: &model.Text{Text: text}})
	}
	for i := range e.calls {
		arguments, err := e.calls[i].arguments.render(c)
		if err != nil {
			return model.Message{}, fmt.Errorf("call %q: %w", e.calls[i].id, err)
		}
		message.Blocks = append(message.Blocks, model.Block{
			ToolCall: &model.ToolCall{ID: e.calls[i].id, Name: e.calls[i].tool, Arguments: arguments},
		})
	}
	return message, nil
}

// pauses returns the file that each call waits for. Empty means none.
func (e *entry) pauses(c *conversation) ([]string, error) {
	files := make([]string, len(e.calls))
	for i := range e.calls {
		if e.calls[i].until == nil {
			continue
		}
		file, err := e.calls[i].until.render(c)
		if err != nil {
			return nil, fmt.Errorf("call %q: %w", e.calls[i].id, err)
		}
		files[i] = file
	}
	return files, nil
}

func (e *entry) stopReason() model.StopReason {
	switch {
	case e.stop != "":
		return e.stop
	case len(e.calls) > 0:
		return model.StopToolUse
	}
	return model.StopEndTurn
}

func (s *stream) deltas(message model.Message, pauses []string, chunks int) error {
	index := 0
	for _, block := range message.Blocks {
		var err error
		switch {
		case block.Text != nil:
			err = s.text(block.Text.Text, chunks)
		case block.ToolCall != nil:
			err = s.call(index, block.ToolCall, pauses[index], chunks)
			index++
		}
		if err != nil || s.left {
			return err
		}
	}
	return nil
}

func (s *stream) text(whole string, chunks int) error {
	for _, piece := range pieces(whole, chunks) {
		if err := s.send(model.Chunk{TextDelta: &model.TextDelta{Text: piece}}); err != nil || s.left {
			return err
		}
	}
	return nil
}

func (s *stream) call(index int, c *model.ToolCall, pause string, chunks int) error {
	begun := model.Chunk{CallBegun: &model.CallBegun{Index: index, ID: c.ID, Name: c.Name}}
	if err := s.send(begun); err != nil || s.left {
		return err
	}
	parts := pieces(c.Arguments, chunks)
	for i, piece := range parts {
		if i == len(parts)-1 && pause != "" {
			if err := untilExists(s.ctx, pause); err != nil {
				return err
			}
		}
		delta := model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: index, Text: piece}}
		if err := s.send(delta); err != nil || s.left {
			return err
		}
	}
	return nil
}

func (s *stream) send(chunk model.Chunk) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if !s.yield(chunk, nil) {
		s.left = true
	}
	return nil
}

// pieces splits a text into n pieces with about the same number of characters, or into fewer if the
// text is shorter.
func pieces(whole string, n int) []string {
	total := utf8.RuneCountInString(whole)
	n = max(1, min(n, total))
	cut := make([]string, 0, n)
	from, at := 0, 0
	for i := range whole {
		if at > 0 && at == (len(cut)+1)*total/n {
			cut = append(cut, whole[from:i])
			from = i
		}
		at++
	}
	if from < len(whole) {
		cut = append(cut, whole[from:])
	}
	return cut
}
