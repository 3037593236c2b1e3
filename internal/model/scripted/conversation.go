package scripted

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// digest stands for a whole conversation.
type digest [sha256.Size]byte

// conversation is a request as a script sees it.
type conversation struct {
	req     model.Request
	answers int // the assistant's messages, also those that a summary took the place of
	said    string
	results map[string]string // the text of each result by the provider's id
	ids     []string          // of the results, in order
}

func newConversation(req model.Request) *conversation {
	c := &conversation{req: req, answers: req.Replaced, results: make(map[string]string)}
	for _, message := range req.Messages {
		if message.Role == model.RoleAssistant {
			c.answers++
			continue
		}
		var said []string
		for _, block := range message.Blocks {
			switch {
			case block.Text != nil:
				said = append(said, block.Text.Text)
			case block.ToolResult != nil:
				c.add(block.ToolResult)
			}
		}
		if said != nil {
			c.said = strings.Join(said, "\n")
		}
	}
	return c
}

func (c *conversation) add(r *model.ToolResult) {
	if _, ok := c.results[r.ID]; !ok {
		c.ids = append(c.ids, r.ID)
	}
	result := tool.Result{Content: r.Content}
	c.results[r.ID] = result.Text()
}

func (c *conversation) prompt() string { return c.said }

func (c *conversation) result(id string) (string, error) {
	if text, ok := c.results[id]; ok {
		return text, nil
	}
	if len(c.ids) == 0 {
		return "", fmt.Errorf("there is no result %q: no call has been answered yet", id)
	}
	return "", fmt.Errorf("there is no result %q; there are %s", id, quoteAll(c.ids))
}

func quoteAll(ids []string) string {
	quoted := slices.Clone(ids)
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", quoted[i])
	}
	return strings.Join(quoted, ", ")
}

// digest names the conversation: equal ones have the same. A conversation that cannot be written as JSON, because some
// content claims to be JSON and is not, shares one digest with all such.
func (c *conversation) digest() digest {
	text, err := json.Marshal(struct {
		System   string
		Messages []model.Message
		Summary  int
	}{c.req.System, c.req.Messages, c.req.Summary})
	if err != nil {
		text = nil
	}
	return sha256.Sum256(text)
}
