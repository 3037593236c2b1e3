package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/model"
)

// conversation is what the model has read and written, and what the user has said that the model has not read yet.
type conversation struct {
	messages    []model.Message    // well-paired whenever a model request follows
	size        int                // how many bytes of text messages hold; see sizeOf
	unread      []unread           // user messages that are not in messages yet, in order
	providerIDs orderedSet[string] // the ids of the tool calls that were ever in messages
}

// unread is a user message that the model has not read. seq is the place of its event.
type unread struct {
	seq  uint64
	text string
}

// pushUser adds blocks to the conversation on the user's side. Two messages of one side never follow each other: some
// providers refuse that.
func (c *conversation) pushUser(blocks ...model.Block) {
	c.size += sizeOfBlocks(blocks)
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == model.RoleUser {
		last := c.messages[n-1]
		// A new slice: requests that are under way hold the old one.
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

// freshID returns a provider's id for the call at index, or another one if the conversation has it already.
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
		c.pushUser(textBlock(c.unread[0].text))
		c.unread = c.unread[1:]
	}
}
