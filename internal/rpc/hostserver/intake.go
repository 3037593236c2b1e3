package hostserver

import (
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/budget"
)

// intake is a connection whose messages are accounted for while they arrive.
//
// gRPC keeps the parts of a message until it is complete, and opens the window of a stream as wide as the message that has
// begun. A caller that begins messages and does not complete them could so make it hold 4 MiB for each of a thousand streams
// of each connection, before any handler hears of it. The intake reads the headers of HTTP/2 frames and of gRPC messages as
// they pass, and so knows how much of each message has arrived. What incomplete messages have beyond smallMessage is reserved
// on the connection's account. While there is no room, the intake does not read: the kernel stops the caller then. A
// connection that waits too long for room, or whose message takes too long to arrive, is closed.
//
// It looks at nothing but lengths and changes nothing. What is no HTTP/2 is gRPC's to refuse. Read is for one goroutine at a
// time, as gRPC calls it; all else may be called from any.
type intake struct {
	net.Conn
	account *budget.Account
	logger  *slog.Logger

	hold    budget.Hold // for incomplete messages
	held    int         // of hold
	overdue *time.Timer // closes the connection; nil: no large message is incomplete

	answers answers
	once    sync.Once
}

const (
	// smallMessage is how much of a message is not accounted for: the streams of a connection are bounded.
	smallMessage = 2 << 10
	// roomTimeout is how long a connection waits for room for what it has sent already.
	roomTimeout = 10 * time.Second
	// messageTimeout is how long large messages may be incomplete on a connection, without a moment at which none is.
	messageTimeout = time.Minute
	// shortQueue is how long other work of the process may take without a pause for a connection with large text. waysGiven is
	// how many times as long the pause is, and longestWay is its bound: large text moves on at 640 KiB a second at least.
	shortQueue = 500 * time.Microsecond
	waysGiven  = 20
	longestWay = 100 * time.Millisecond
	// reserveStep is how much is reserved at once.
	reserveStep = 64 << 10
)

func newIntake(conn net.Conn, account *budget.Account, logger *slog.Logger) *intake {
	c := &intake{Conn: conn, account: account, logger: logger}
	c.hold.On(account)
	c.answers.init(account)
	return c
}

// Read implements net.Conn.
func (c *intake) Read(p []byte) (int, error) {
	if pause := c.account.Pause(); pause > 0 {
		time.Sleep(pause)
	}
	if c.account.Due() {
		giveWay()
	}
	n, err := c.Conn.Read(p)
	if n > 0 {
		large, bulk := c.answers.arrive(p[:n])
		if bulk > 0 {
			c.account.Carry(bulk)
		}
		c.settle(large)
	}
	return n, err
}

// Write implements net.Conn.
func (c *intake) Write(p []byte) (int, error) {
	c.answers.leave(p)
	return c.Conn.Write(p)
}

// carry counts argument text of a connection. The intake counts the text that comes in large messages.
func carry(account *budget.Account, text int) {
	if text < largeAnswer {
		account.Carry(text)
	}
}

// giveWay lets all other work of the process run, and then waits as wayFor says. A small call passes through several
// goroutines, and each of them waits behind all work on large text that is queued. The wait keeps that queue short.
func giveWay() {
	began := time.Now()
	runtime.Gosched()
	time.Sleep(wayFor(time.Since(began)))
}

// wayFor returns how long a connection with large text is read no further where other work was queued for so long.
func wayFor(queued time.Duration) time.Duration {
	if queued <= shortQueue {
		return 0
	}
	return min(waysGiven*queued, longestWay)
}

// settle reserves what incomplete messages have, and waits for it.
func (c *intake) settle(large int) {
	switch {
	case large == 0 && c.held == 0:
		return
	case large == 0:
		c.overdue.Stop()
		c.overdue = nil
		c.hold.Release()
		c.held = 0
	case large+reserveStep < c.held:
		c.hold.Give(c.held - large)
		c.held = large
	case large > c.held:
		if c.overdue == nil {
			c.overdue = time.AfterFunc(messageTimeout, c.late)
		}
		more := large - c.held + reserveStep
		if !c.reserve(more) {
			c.cut("there was no room for its messages for " + roomTimeout.String())
			return
		}
		c.held += more
	}
}

// late closes a connection with a message that is still incomplete.
func (c *intake) late() {
	if c.answers.incomplete() > 0 {
		c.cut("a message took longer than " + messageTimeout.String() + " to arrive")
	}
}

// reserve waits for room, and reports whether there was some in time.
func (c *intake) reserve(more int) bool {
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); c.hold.TryReserve(more) != nil; waited += step {
		if waited >= roomTimeout {
			return false
		}
		time.Sleep(step)
	}
	return true
}

// cut closes the connection for a reason.
func (c *intake) cut(reason string) {
	c.logger.Warn("a connection was closed", "reason", reason)
	_ = c.Conn.Close()
}

// Close implements net.Conn.
func (c *intake) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.hold.Release()
		c.answers.hold.Release()
		c.account.Close()
	})
	return err
}
