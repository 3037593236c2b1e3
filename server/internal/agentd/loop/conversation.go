package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// conversation is what the model has read and written, and the user messages that it has not read
// yet.
type conversation struct {
	messages    []model.Message    // before a model request, every call has its result
	size        int                // the bytes of text in messages; see sizeOf
	unread      []unread           // user messages that are not in messages yet, in order
	providerIDs orderedSet[string] // the providers' ids of all calls that were ever in messages
	attached    []Attachment       // see State.Attached
}

// hear adds a prompt or a message to those that the model has not read.
func (c *conversation) hear(seq uint64, text string, attached []Attachment) {
	c.unread = append(c.unread, unread{seq, text, attached})
	c.attached = slices.Concat(c.attached, attached)
}

// unread is a user message that the model has not read. seq is the place of its event.
type unread struct {
	seq      uint64
	text     string
	attached []Attachment
}

// pushUser adds blocks to the conversation as a message of the user. Two messages of the same role
// never follow each other, because some providers reject that.
func (c *conversation) pushUser(blocks ...model.Block) {
	c.size += sizeOfBlocks(blocks)
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == model.RoleUser {
		last := c.messages[n-1]
		// Requests that are in progress share the old slice.
		c.messages[n-1] = model.Message{Role: model.RoleUser, Blocks: slices.Concat(last.Blocks, blocks)}
		return
	}
	c.messages = append(c.messages, model.Message{Role: model.RoleUser, Blocks: blocks})
}

func textBlock(text string) model.Block { return model.Block{Text: &model.Text{Text: text}} }

func TextOf(m *model.Message) string {
	var parts []string
	for _, b := range m.Blocks {
		if b.Text != nil && b.Text.Text != "" {
			parts = append(parts, b.Text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// freshID returns the provider's id for the call at an index, or another id if the conversation
// already has that one.
func (c *conversation) freshID(id string, turn, index int, used map[string]struct{}) string {
	for n := 0; ; n++ {
		_, here := used[id]
		if id != "" && !here && !c.providerIDs.has(id) {
			used[id] = struct{}{}
			return id
		}
		id = fmt.Sprintf("call_%d_%d", turn, index)
		if n > 0 {
			id = fmt.Sprintf("%s_%d", id, n)
		}
	}
}

// read moves the user messages up to an event into the conversation.
func (c *conversation) read(upTo uint64) {
	for len(c.unread) > 0 && c.unread[0].seq <= upTo {
		c.pushUser(userBlocks(c.unread[0].text, c.unread[0].attached)...)
		c.unread = c.unread[1:]
	}
}
