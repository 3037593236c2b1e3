package model

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// images are the images that a model's server has refused. A conversation is sent as a whole with
// each request, so one such image would make the server refuse every later request of the
// conversation. A refusal rarely names the image. So it concerns the images since the last
// response, which no server has accepted yet, or else all images of the conversation.
//
// The images are known until the process ends. After that, they cost one more refused request.
// images are safe for concurrent use.
type images struct {
	mu      sync.Mutex
	refused map[[sha256.Size]byte]bool
}

// mostRefusedImages limits the digests in memory. Beyond it, they are forgotten.
const mostRefusedImages = 10_000

// leftOut stands in place of an image. A model that does not know of it would answer as if there
// was none.
const leftOut = "[The image %s (%s, %d bytes) was left out of the conversation, because the server of the model refuses it. You cannot see it.]"

// refuse records the images that an error is about. It returns false if the error is about
// something else, or if the messages have no image.
func (x *images) refuse(err error, messages []Message) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok || !failed.RefusedImage {
		return false
	}
	latest := 0
	for i := range messages {
		if messages[i].Role == RoleAssistant {
			latest = i + 1
		}
	}
	return x.add(messages[latest:]) || x.add(messages)
}

// add records the images of messages. It returns false if there are none.
func (x *images) add(messages []Message) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.refused == nil || len(x.refused) > mostRefusedImages {
		x.refused = make(map[[sha256.Size]byte]bool)
	}
	found := false
	eachImage(messages, func(data []byte) {
		x.refused[sha256.Sum256(data)], found = true, true
	})
	return found
}

func eachImage(messages []Message, see func(data []byte)) {
	for i := range messages {
		for _, b := range messages[i].Blocks {
			if b.Attachment != nil && isImage(b.Attachment.MIMEType) {
				see(b.Attachment.Data)
			}
			if b.ToolResult == nil {
				continue
			}
			for j := range b.ToolResult.Content {
				if c := &b.ToolResult.Content[j]; c.Kind == tool.ContentImage && len(c.Data) > 0 {
					see(c.Data)
				}
			}
		}
	}
}

func isImage(mimeType string) bool { return strings.HasPrefix(strings.ToLower(mimeType), "image/") }

// without returns messages with a note in place of each refused image. It shares memory with
// messages and changes none of it.
func (x *images) without(messages []Message) []Message {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.refused) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Blocks = slices.Clone(messages[i].Blocks)
		for j := range messages[i].Blocks {
			x.clear(&messages[i].Blocks[j])
		}
	}
	return messages
}

func (x *images) clear(b *Block) {
	switch a, r := b.Attachment, b.ToolResult; {
	case a != nil && isImage(a.MIMEType) && x.refused[sha256.Sum256(a.Data)]:
		*b = Block{Text: &Text{Text: note(a.Name, a.MIMEType, len(a.Data))}}
	case r != nil:
		with := *r
		with.Content = slices.Clone(r.Content)
		for i, c := range with.Content {
			if c.Kind == tool.ContentImage && len(c.Data) > 0 && x.refused[sha256.Sum256(c.Data)] {
				with.Content[i] = tool.Text(note(c.Name, c.MediaType, len(c.Data)))
			}
		}
		b.ToolResult = &with
	}
}

func note(name, mimeType string, size int) string {
	return fmt.Sprintf(leftOut, cmp.Or(name, "without a name"), mimeType, size)
}
