package scripted

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// digest identifies a conversation.
type digest [sha256.Size]byte

// conversation is a request as a script sees it.
type conversation struct {
	req         model.Request
	answers     int // number of assistant messages, including those that a summary replaced
	firstPrompt string
	lastPrompt  string
}

func newConversation(req model.Request) *conversation {
	c := &conversation{req: req, answers: req.Replaced}
	for _, message := range req.Messages {
		if message.Role == model.RoleAssistant {
			c.answers++
			continue
		}
		var texts []string
		for _, block := range message.Blocks {
			if block.Text != nil {
				texts = append(texts, block.Text.Text)
			}
		}
		if texts != nil {
			c.lastPrompt = strings.Join(texts, "\n")
			if c.firstPrompt == "" {
				c.firstPrompt = c.lastPrompt
			}
		}
	}
	return c
}

func (c *conversation) prompt() string { return c.lastPrompt }

// attachments describes the attachments of the conversation, with the digests of what arrived, so
// that a test sees that the content arrived.
func (c *conversation) attachments() string {
	var lines []string
	for _, message := range c.req.Messages {
		for _, block := range message.Blocks {
			if a := block.Attachment; a != nil {
				lines = append(lines, fmt.Sprintf("%s %s, %d bytes, sha256 %x", a.Name, a.MIMEType, len(a.Data), sha256.Sum256(a.Data)))
			}
		}
	}
	return strings.Join(lines, "; ")
}

// result returns the text of the last result with a provider's id. It searches each time, because
// few scripts need it and a conversation may have thousands of results.
func (c *conversation) result(id string) (string, error) {
	var ids []string
	for r := range c.results() {
		if r.ID == id {
			result := tool.Result{Content: r.Content}
			return result.Text(), nil
		}
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("there is no result %q: no call has been answered yet", id)
	}
	slices.Reverse(ids)
	return "", fmt.Errorf("there is no result %q; there are %s", id, quoteAll(ids))
}

// results yields the results, the last one first.
func (c *conversation) results() iter.Seq[*model.ToolResult] {
	return func(yield func(*model.ToolResult) bool) {
		for _, message := range slices.Backward(c.req.Messages) {
			for _, block := range slices.Backward(message.Blocks) {
				if r := block.ToolResult; r != nil && !yield(r) {
					return
				}
			}
		}
	}
}

func quoteAll(ids []string) string {
	quoted := slices.Clone(ids)
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", quoted[i])
	}
	return strings.Join(quoted, ", ")
}

// digest identifies the conversation. Equal conversations have equal digests. All conversations
// that cannot be encoded, because content that claims to be JSON is not, share one digest.
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
