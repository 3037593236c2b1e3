package agentserver

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// defaultMaxUnread is the default of Config.MaxUnreadBytes. It holds the events of many clients
// that read, and is small beside the memory of a machine.
const defaultMaxUnread = 64 << 20

// unread bounds the bytes of events that the clients of one principal have not read.
//
// A client that does not read blocks only its own stream. But gRPC keeps the message that it cannot
// send yet, and the next one waits in Send. So each stream holds up to two events, and an event can
// have megabytes. Without a bound, a principal with many streams could make agentd hold gigabytes.
// A stream therefore reserves the bytes of an event before it sends it, and releases them when the
// next event is sent, because only then gRPC has passed the first one on.
//
// All methods are safe for concurrent use.
type unread struct{ *tally }

func newUnread(most int64) *unread { return &unread{newTally(most)} }

// take reserves bytes for a principal. One event always fits, whatever its size.
func (u *unread) take(principal string, n int64) error {
	if held, ok := u.tally.take(principal, n); !ok {
		err := tool.Errorf(tool.KindRateLimited, "the clients of this principal have not read %d bytes of events; read them, and watch again from the last event", held)
		err.RetryAfter = time.Second
		return err
	}
	return nil
}

// outgoing is what one stream has reserved. Only the goroutine of the stream uses it.
type outgoing struct {
	of        *unread
	principal string
	last      int64 // of the event that gRPC may still keep
}

// send reserves the bytes of an event, and sends it.
func (o *outgoing) send(n int, send func() error) error {
	if err := o.of.take(o.principal, int64(n)); err != nil {
		return err
	}
	err := send()
	o.of.give(o.principal, o.last)
	o.last = int64(n)
	return err
}

// end releases what the stream has reserved.
func (o *outgoing) end() { o.of.give(o.principal, o.last) }
