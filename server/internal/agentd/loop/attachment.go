package loop

import (
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Attachment is a file that the user attached to the prompt or to a message, as the journal has it.
// Data is empty: the content is in the store, beside the journal. It is found by SHA256, so that an
// event stays small and the content is written once.
type Attachment struct {
	model.Attachment
	// Artifact is the handle of the artifact of toolhost that the content was read from when the
	// agent accepted the prompt or the message. The run never reads the artifact again. Empty: the
	// caller sent the content.
	Artifact string `json:"artifact,omitempty"`
}

// NewAttachment is a file that a caller attaches. Exactly one of Data, Artifact and SHA256 is set.
type NewAttachment struct {
	Name string // of the file, without folders; empty: none
	// MIMEType is what the caller takes the content for. Empty: the caller does not say. The content
	// decides, and a contradiction is an error.
	MIMEType string
	Data     []byte
	// Artifact is the handle of an artifact of toolhost, and Session the session of the call that
	// returned it. An empty Session means that of the run.
	Artifact, Session string
	// SHA256 names an attachment of the run that starts a sub-run. Only a sub-run has such ones.
	SHA256 string
}

// words describes an attachment for the model.
func words(a *model.Attachment) string {
	name := a.Name
	if name == "" {
		name = "a file without a name"
	}
	return fmt.Sprintf("%s (%s, %d bytes)", name, a.MIMEType, a.Size)
}

// userBlocks returns the blocks of a text of the user with its attachments, which come first,
// because models understand a question better after its material.
func userBlocks(text string, attached []Attachment) []model.Block {
	blocks := make([]model.Block, 0, len(attached)+1)
	for i := range attached {
		blocks = append(blocks, model.Block{Attachment: &attached[i].Attachment})
	}
	return append(blocks, textBlock(text))
}

// removedAttachments tells the model which attachments a summary has removed.
const removedAttachments = "(To make room, these attachments were removed, so you cannot see them any more: %s.)"

// noteOfAttachments returns what replaces the attachments in messages, or "" if there are none.
func noteOfAttachments(messages []model.Message) string {
	var removed []string
	for i := range messages {
		for _, b := range messages[i].Blocks {
			if b.Attachment != nil {
				removed = append(removed, words(b.Attachment))
			}
		}
	}
	if removed == nil {
		return ""
	}
	return fmt.Sprintf(removedAttachments, strings.Join(removed, "; "))
}

const (
	// pageBytes is the number of bytes of a PDF that count as one page, and pageTokens is what a page
	// costs. Providers send each page as text and as an image.
	pageBytes  = 32 << 10
	pageTokens = 2000
)

// sizeOfAttachment returns the bytes of text that use as much of the window as an attachment. It is
// an estimate, which holds until the model reports what its request used.
func sizeOfAttachment(a *model.Attachment) int {
	switch {
	case strings.HasPrefix(a.MIMEType, "text/"):
		return a.Size
	case strings.HasPrefix(a.MIMEType, "image/"):
		return min(a.Size, imageBytes)
	}
	return (1 + a.Size/pageBytes) * pageTokens * bytesPerToken
}

// passOn returns the attachments of the run that a call of new_task names, or a message for the
// model that says what is wrong with the names. The latest attachment with a name is the one that
// is meant.
func (c *conversation) passOn(named []string) (files []NewAttachment, wrong string) {
	for _, name := range named {
		found := false
		for i := len(c.attached) - 1; i >= 0 && !found; i-- {
			if a := &c.attached[i]; a.Name == name {
				files = append(files, NewAttachment{Name: name, SHA256: a.SHA256})
				found = true
			}
		}
		if !found {
			return nil, "[invalid_argument] None of your attachments has the name " + Clip(name) + "."
		}
	}
	return files, ""
}

// AttachedBytes returns the bytes of the contents of attachments.
func AttachedBytes(attached []Attachment) (n int64) {
	for i := range attached {
		n += int64(attached[i].Size)
	}
	return n
}

// Attached returns all attachments of the run in order, also those that a summary removed. The
// caller must not change the slice.
func (s *State) Attached() []Attachment { return s.conversation.attached }
