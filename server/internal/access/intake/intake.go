package intake

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/fairness/pace"
)

// Conn is a connection that reserves memory for incomplete messages.
//
// The problem: gRPC stores the parts of a message until it is complete, and opens the flow-control
// window of a stream as wide as the message that has begun. A caller that begins messages and does
// not complete them could make it store 4 MiB for each of a thousand streams per connection, before
// any handler runs.
//
// The connection parses the headers of HTTP/2 frames and gRPC messages as they pass, so it knows
// how much of each message has arrived. It reserves what incomplete messages have beyond
// smallMessage on the connection's memory account. While the account has no room, Conn does not
// read, and the kernel stops the caller. It closes a connection that waits too long for room, or
// whose message takes too long to arrive.
//
// Conn uses only lengths and changes no bytes. gRPC refuses data that is not HTTP/2. Read
// must not be called concurrently, as gRPC does; all other methods are safe for concurrent use.
type Conn struct {
	net.Conn
	account *budget.Account
	logger  *slog.Logger

	hold    budget.Hold // for incomplete messages
	held    int         // the size of hold
	overdue *time.Timer // closes the connection; nil: no large message is incomplete

	answers answers
	once    sync.Once
}

const (
	// smallMessage is the part of a message that is not reserved. maxStreams limits the number of
	// such parts.
	smallMessage = 2 << 10
	// roomTimeout is how long a connection waits for memory for data that it has already sent.
	roomTimeout = 10 * time.Second
	// messageTimeout is how long a connection may have large incomplete messages without
	// interruption.
	messageTimeout = time.Minute
	// reserveStep is the unit of reservations.
	reserveStep = 64 << 10
	// largestMessage is more than the largest message of any server, with the step beyond it. One
	// message can always arrive while others have little, but not as many as a connection has streams.
	largestMessage = 17 << 20
)

// textPause is the pause of a connection that sends large text. The text advances by 640 KiB per
// second at least.
var textPause = pace.Pause{Times: 20, Longest: 100 * time.Millisecond}

// Open returns the connection with an account of the budget. It fails if the budget has no room for
// another connection of its principal.
func Open(conn net.Conn, info peercred.Info, memory *budget.Budget, logger *slog.Logger) (*Conn, error) {
	account, err := memory.Open(accountOf(info))
	if err != nil { // the connection is closed, so the caller cannot receive the error
		logger.Warn("a connection was closed at once", "error", err)
		return nil, err
	}
	return New(conn, account, logger), nil
}

// accountOf returns the name of the memory account of a connection. The caller of a connection with
// TLS is not known before its first RPC, and its memory counts for its address.
func accountOf(info peercred.Info) string {
	if info.Principal == "" && !info.Caller.Plain {
		return "address:" + listen.OriginOf(info.Caller.Address)
	}
	return cmp.Or(info.Principal, authn.Anonymous)
}

// New returns a connection that closes the account when it is closed.
func New(conn net.Conn, account *budget.Account, logger *slog.Logger) *Conn {
	c := &Conn{Conn: conn, account: account, logger: logger}
	c.hold.On(account)
	c.hold.Bound(largestMessage)
	c.answers.init(account)
	return c
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if pause := c.account.Pause(); pause > 0 {
		time.Sleep(pause)
	}
	if c.account.Due() {
		pace.GiveWay(textPause)
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
func (c *Conn) Write(p []byte) (int, error) {
	c.answers.leave(p)
	return c.Conn.Write(p)
}

// Account returns the memory account of the connection.
func (c *Conn) Account() *budget.Account { return c.account }

// Owe reserves the memory of a large answer until it is sent. It fails with a
// *budget.ExhaustedError if the budget is exceeded.
func (c *Conn) Owe(size int) error { return c.answers.owe(size) }

// openBytes is what an open unary RPC takes beside its request and its answer: the stacks of its
// goroutines, and what gRPC stores of it.
const openBytes = 32 << 10

// Occupy reserves the memory of a unary RPC until ctx ends, which is the context of the RPC. It
// fails with a *budget.ExhaustedError if the budget is exceeded.
func (c *Conn) Occupy(ctx context.Context, principal string) error {
	hold := &budget.Hold{}
	hold.On(c.account)
	hold.For(principal, false)
	if err := hold.TryReserve(openBytes); err != nil {
		return err
	}
	context.AfterFunc(ctx, hold.Release)
	return nil
}

// Carry counts argument text of a connection. Conn itself counts text in large messages.
func Carry(account *budget.Account, text int) {
	if text < largeAnswer {
		account.Carry(text)
	}
}

// settle reserves memory for incomplete messages, and blocks until it is available.
func (c *Conn) settle(large int) {
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

// late closes a connection whose message is still incomplete.
func (c *Conn) late() {
	if c.answers.incomplete() > 0 {
		c.cut("a message took longer than " + messageTimeout.String() + " to arrive")
	}
}

// reserve waits for memory, and reports whether it was available in time.
func (c *Conn) reserve(more int) bool {
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); c.hold.TryReserve(more) != nil; waited += step {
		if waited >= roomTimeout {
			return false
		}
		time.Sleep(step)
	}
	return true
}

// cut closes the connection and logs the reason.
func (c *Conn) cut(reason string) {
	c.logger.Warn("a connection was closed", "reason", reason)
	_ = c.Conn.Close()
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.hold.Release()
		c.answers.hold.Release()
		c.account.Close()
	})
	return err
}

// largeAnswer is the size from which the answer of a unary RPC is reserved until it is sent.
const largeAnswer = 64 << 10

// answers reserves memory for the answers that a connection has to send and its caller does not
// read. After the handler of a unary RPC has returned, gRPC stores the answer until the
// flow-control windows of the caller have room, which may never happen. answers parses the frames
// in both directions, so it knows how much of each large answer has been sent.
//
// If a caller resets a stream, gRPC drops the rest of the answer. If no part of it had been sent,
// its size is unknown; then it stays reserved until the connection has no open stream. Such a
// caller harms only itself.
type answers struct {
	mu   sync.Mutex
	in   frames // received frames; Conn reserves memory for incomplete messages
	out  frames // sent frames
	open map[uint32]struct{}
	last uint32 // the highest number of an opened stream
	hold budget.Hold
}

func (a *answers) init(account *budget.Account) {
	a.open = map[uint32]struct{}{}
	a.hold.On(account)
	a.hold.Bound(largestMessage)
	a.in.preface = len(http2Preface)
	a.in.opened, a.in.known, a.in.reset = a.openedLocked, a.knownLocked, a.resetLocked
	a.out.reset, a.out.finished = a.closedLocked, a.closedLocked
}

// owe reserves the memory of an answer. It fails if the budget is exceeded.
func (a *answers) owe(size int) error {
	if size < largeAnswer {
		return nil
	}
	return a.hold.TryReserve(size)
}

// arrive parses received bytes. It returns the size of incomplete messages to reserve, and how many
// of the bytes belong to messages of at least largeAnswer.
func (a *answers) arrive(b []byte) (large, bulk int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.in.pass(b)
	bulk, a.in.passed = a.in.passed, 0
	return a.in.large, bulk
}

// incomplete returns the size of incomplete messages to reserve.
func (a *answers) incomplete() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.in.large
}

// leave parses sent bytes.
func (a *answers) leave(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.pass(b)
	if a.out.passed > 0 {
		a.hold.Give(a.out.passed)
		a.out.passed = 0
	}
}

// openedLocked handles the headers of a stream.
func (a *answers) openedLocked(stream uint32) {
	if stream > a.last {
		a.last = stream
		a.open[stream] = struct{}{}
	}
}

// knownLocked reports whether a stream is open. gRPC drops frames of other streams.
func (a *answers) knownLocked(stream uint32) bool {
	_, open := a.open[stream]
	return open
}

// resetLocked handles the reset of a stream by the caller.
func (a *answers) resetLocked(stream uint32) {
	if m := a.out.messages[stream]; m != nil && m.got+m.left >= largeAnswer {
		a.hold.Give(m.left)
	}
	a.out.drop(stream)
	a.closedLocked(stream)
}

// closedLocked handles the end of a stream.
func (a *answers) closedLocked(stream uint32) {
	a.in.drop(stream)
	delete(a.open, stream)
	if len(a.open) == 0 {
		a.hold.Release() // nothing is left to send
	}
}
