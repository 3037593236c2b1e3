package agent

import (
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

const (
	clearedResult = "(This result was removed to make room. Call the tool again if you still need it.)"
	summaryWords  = "(What was said so far was summed up to make room.)\n\n%s"
)

// applyCompacted makes the conversation smaller. Calls keep their results: what is cut off ends between turns.
func (s *State) applyCompacted(p *Compacted) error {
	if s.pending > 0 || p.Replaced < 0 || p.Replaced > len(s.messages) {
		return fmt.Errorf("event %d cannot replace %d of %d messages now", s.seq, p.Replaced, len(s.messages))
	}
	if rest := s.messages[p.Replaced:]; len(rest) > 0 && slices.ContainsFunc(rest[0].Blocks, func(b model.Block) bool { return b.ToolResult != nil }) {
		return fmt.Errorf("event %d separates calls from their results", s.seq)
	}
	messages := slices.Clone(s.messages)
	for i, m := range messages {
		blocks := slices.Clone(m.Blocks)
		for j, b := range blocks {
			if r := b.ToolResult; r != nil && slices.Contains(p.Cleared, r.ID) {
				blocks[j].ToolResult = &model.ToolResult{ID: r.ID, Name: r.Name, Content: []tool.Content{tool.Text(clearedResult)}, IsError: r.IsError}
			}
		}
		messages[i].Blocks = blocks
	}
	s.messages = messages
	if p.Summary == "" {
		return nil
	}
	rest := messages[p.Replaced:]
	s.messages = nil
	s.pushUser(textBlock(fmt.Sprintf(summaryWords, p.Summary)))
	if len(rest) > 0 && rest[0].Role == model.RoleUser {
		s.pushUser(rest[0].Blocks...)
		rest = rest[1:]
	}
	s.messages = append(s.messages, rest...)
	return nil
}
