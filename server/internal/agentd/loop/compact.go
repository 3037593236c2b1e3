package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

const (
	// clearedMark begins a note that replaces a result.
	clearedMark    = "(removed to make room) "
	clearedResult  = clearedMark + "This was the result of %s%s, %d bytes. Call the tool again if you still need it."
	keptElsewhere  = " The whole is kept as %s."
	summaryMessage = "(To make room, what was said and done since then was summed up. This is the summary; go on from here.)\n\n%s"
	todoMessage    = "\n\nThe list of things to do, as it is now:\n%s"

	// minCleared is the smallest size in bytes of a result that a note replaces. Notes are not much
	// smaller than that.
	minCleared = 512
	// maxKeptResult is the size up to which a result stays when the conversation does not fit the
	// model, in bytes.
	maxKeptResult = 16 << 10
)

// boundary returns the index of the first of the last responses that stay unchanged; the parameter
// keep is their number. The conversation may be cut there, because all calls before it have their
// results. 0 means that nothing precedes it.
func boundary(messages []model.Message, keep int) int {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role != model.RoleAssistant {
			continue
		}
		if keep--; keep <= 0 && messages[i-1].Role == model.RoleUser {
			return i
		}
	}
	return 0
}

// replaceable returns how many messages a summary could replace if the last keep responses stay. 0
// means that a summary would not help.
func replaceable(messages []model.Message, keep int) int {
	const least = 3 // the first message, a response, and its results
	if n := boundary(messages, keep); n >= least {
		return n
	}
	return 0
}

// clearable returns the results that notes can replace, by the ids that pair them with their calls,
// and the bytes that this frees. These are the large results before the last keep responses. In the
// last keep responses, they are the results larger than the parameter most.
func clearable(messages []model.Message, keep, most int) (ids []string, freed int) {
	end := boundary(messages, keep)
	for i := range messages {
		limit := minCleared
		if i >= end {
			limit = most
		}
		for _, b := range messages[i].Blocks {
			if b.ToolResult == nil || cleared(b.ToolResult) {
				continue
			}
			if size := resultSize(b.ToolResult); size > limit {
				ids = append(ids, b.ToolResult.ID)
				freed += size
			}
		}
	}
	return ids, freed
}

// noResult is larger than any result.
const noResult = int(^uint(0) >> 1)

func cleared(r *model.ToolResult) bool {
	return len(r.Content) == 1 && strings.HasPrefix(r.Content[0].Text, clearedMark)
}

// clearResults returns messages with notes in place of results.
func clearResults(messages []model.Message, ids []string) []model.Message {
	messages = slices.Clone(messages)
	calls := make(map[string]*model.ToolCall)
	for i := range messages {
		blocks := slices.Clone(messages[i].Blocks)
		for j, b := range blocks {
			if b.ToolCall != nil {
				calls[b.ToolCall.ID] = b.ToolCall
			}
			if r := b.ToolResult; r != nil && slices.Contains(ids, r.ID) {
				blocks[j].ToolResult = &model.ToolResult{ID: r.ID, Name: r.Name, Content: []tool.Content{tool.Text(note(r, calls[r.ID]))}, IsError: r.IsError}
			}
		}
		messages[i].Blocks = blocks
	}
	return messages
}

// note returns the note that replaces a result.
func note(r *model.ToolResult, call *model.ToolCall) string {
	arguments := ""
	if call != nil {
		arguments = " " + Clip(call.Arguments)
	}
	words := fmt.Sprintf(clearedResult, r.Name, arguments, resultSize(r))
	var handles []string
	for i := range r.Content {
		if a := r.Content[i].Artifact; a != nil && a.Handle != "" {
			handles = append(handles, a.Handle)
		}
	}
	if len(handles) > 0 {
		words += fmt.Sprintf(keptElsewhere, strings.Join(handles, ", "))
	}
	return words
}

// replaceBySummary returns messages with a summary in place of the first n. The text of the user's
// prompt stays as the user wrote it, and a note replaces attachments.
func replaceBySummary(messages []model.Message, n int, prompt, summary string, todos json.RawMessage) []model.Message {
	words := fmt.Sprintf(summaryMessage, summary)
	if len(todos) > 0 && string(todos) != "null" {
		words += fmt.Sprintf(todoMessage, todos)
	}
	if note := noteOfAttachments(messages[:n]); note != "" {
		words += "\n\n" + note
	}
	rest := messages[n:]
	short := conversation{}
	short.pushUser(textBlock(prompt), textBlock(words))
	if len(rest) > 0 && rest[0].Role == model.RoleUser {
		short.pushUser(rest[0].Blocks...)
		rest = rest[1:]
	}
	return append(short.messages, rest...)
}

// responses returns the number of the model's messages.
func responses(messages []model.Message) int {
	n := 0
	for i := range messages {
		if messages[i].Role == model.RoleAssistant {
			n++
		}
	}
	return n
}

// applyCompacted makes the conversation smaller. The cut is between turns, so every call keeps its
// result.
func (s *State) applyCompacted(p *Compacted) error {
	if s.batch.pending > 0 || s.finished != nil || p.Replaced < 0 || p.Replaced > len(s.conversation.messages) {
		return fmt.Errorf("event %d cannot replace %d of %d messages now", s.seq, p.Replaced, len(s.conversation.messages))
	}
	if rest := s.conversation.messages[p.Replaced:]; len(rest) > 0 && slices.ContainsFunc(rest[0].Blocks, func(b model.Block) bool { return b.ToolResult != nil }) {
		return fmt.Errorf("event %d separates calls from their results", s.seq)
	}
	s.budget.spendSummary(p)
	before := s.conversation.size
	if len(p.Cleared) > 0 {
		s.conversation.messages = clearResults(s.conversation.messages, p.Cleared)
	}
	if p.Summary != "" {
		s.window.summaries++
		s.window.replaced += responses(s.conversation.messages[:p.Replaced])
		s.conversation.messages = replaceBySummary(s.conversation.messages, p.Replaced, s.started.Prompt, p.Summary, s.values.context[KeyTodos])
	}
	if len(p.Cleared) > 0 || p.Summary != "" {
		s.conversation.size, s.window.compacted = sizeOf(s.conversation.messages), s.seq
	}
	switch {
	case p.Overflow:
		s.window.full, s.window.overflowed = false, true
		if s.conversation.size > before/2 && replaceable(s.conversation.messages, 1) > 0 {
			s.window.summaryWanted = p.Reason
		}
	case p.Summary != "":
		s.window.summaryWanted = ""
	case p.Failure != "":
		s.window.summaryFailed = true
		if s.window.summaryWanted = ""; s.window.overflowed {
			s.stop, s.stopMessage = StopContextOverflow, p.Failure
		}
	}
	return nil
}
