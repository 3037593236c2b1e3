package loop

import (
	"crypto/sha256"
	"slices"
)

// MessageID names a message of the user, so that a sender that has no answer can send it again. The
// zero value names none.
type MessageID struct {
	Text string `json:"text"`
	// Sender is the key of the principal that chose Text. Another principal with the same text sends
	// another message.
	Sender string `json:"sender,omitempty"`
}

// saidLimit is how many messages with an id a run remembers. A sender that repeats a message does
// so within seconds, and each snapshot of the run writes the list again.
const saidLimit = 100

// said is a message that had an id.
type said struct {
	ID     MessageID `json:"id"`
	Seq    uint64    `json:"seq"`
	Digest []byte    `json:"digest"` // of its text
}

// Said returns the Seq of the message that had the id of p, or 0 if none of the latest 100 messages
// with an id had it. same reports whether that message had the same text.
func (s *State) Said(p *UserMessage) (seq uint64, same bool) {
	if p.ID.Text == "" {
		return 0, false
	}
	for _, m := range s.said {
		if m.ID == p.ID {
			return m.Seq, slices.Equal(m.Digest, digest(p.Text))
		}
	}
	return 0, false
}

func (s *State) note(seq uint64, p *UserMessage) {
	if p.ID.Text == "" {
		return
	}
	kept := s.said[max(0, len(s.said)+1-saidLimit):]
	s.said = append(slices.Clone(kept), said{ID: p.ID, Seq: seq, Digest: digest(p.Text)}) // images share the list
}

func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
