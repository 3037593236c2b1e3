package runstore

import (
	"context"
	"fmt"
	"time"
)

// Message says that a target has to learn of an event of a run. It has nothing of what the event
// says: the sender reads that when it sends the message.
type Message struct {
	// ID names the message for its target, which drops one that it has already. A store that has or
	// had a message with the id in the same outbox does not add it again while it has it.
	ID       string
	Kind     string // chosen by the writer
	RunID    string
	Seq      uint64 // of the event
	Decision string // that the event requests; empty: none
	Target   string
	Created  time.Time // of the event
	Due      time.Time
	Until    time.Time // when it is removed although no target has it
	// Attempts is how often Take has returned the message. The store sets it.
	Attempts int
}

// Outbox is an additional interface of stores that keep messages until they are sent. The messages
// of a batch are written with its records, or not at all. Its methods are safe for concurrent use,
// also by several processes.
type Outbox interface {
	// Take returns the message of a target that is due first, and makes it due again at lease, so that
	// a sender that dies loses nothing. ok is false if none is due.
	Take(ctx context.Context, target string, now, lease time.Time) (m Message, ok bool, err error)
	// Delay changes when a message is due. It does nothing to one that is gone.
	Delay(ctx context.Context, id string, due time.Time) error
	// Remove removes a message, if it is there.
	Remove(ctx context.Context, id string) error
	// Trim removes the messages whose Until has come, and beyond a number of them those whose Until is
	// first, of all targets. It returns how many it has removed.
	Trim(ctx context.Context, now time.Time, most int) (int, error)
}

// checkMessages returns an error if a message of the batch is invalid.
func (b *Batch) checkMessages() error {
	for i := range b.Messages {
		if m := &b.Messages[i]; m.ID == "" || m.Target == "" || m.RunID != b.RunID {
			return fmt.Errorf("appending to run %s: message %d needs an id, a target and the id of the run", b.RunID, i+1)
		}
	}
	return nil
}
