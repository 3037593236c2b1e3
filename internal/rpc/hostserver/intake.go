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

// largeAnswer is the size from which the answer of a unary RPC is accounted for until it is sent.
const largeAnswer = 64 << 10

// answers follows the frames of a connection in both directions. It accounts for what the connection is to send and its caller does not read. A handler of a unary RPC returns while gRPC
// keeps the answer until the caller's windows have room for it, which may be never. The answers follow the frames that leave,
// and so know how much of the large ones has left. A stream that ends by a reset drops what it had to send. What of that is not
// known, because nothing of the answer had left, stays reserved until no stream is open: a caller that does so harms itself.
type answers struct {
	mu   sync.Mutex
	in   frames // what comes, of which the intake accounts for what is incomplete
	out  frames // what leaves
	open map[uint32]struct{}
	last uint32 // the highest number of a stream that was opened
	hold budget.Hold
}

func (a *answers) init(account *budget.Account) {
	a.open = map[uint32]struct{}{}
	a.hold.On(account)
	a.in.preface = len(http2Preface)
	a.in.opened, a.in.known, a.in.reset = a.openedLocked, a.knownLocked, a.resetLocked
	a.out.reset, a.out.finished = a.closedLocked, a.closedLocked
}

// owe makes room for an answer of so many bytes, or says why there is none.
func (a *answers) owe(size int) error {
	if size < largeAnswer {
		return nil
	}
	return a.hold.TryReserve(size)
}

// arrive takes the next bytes that come. It returns how much of incomplete messages is to be accounted for, and how many of
// the bytes belong to messages of at least largeAnswer.
func (a *answers) arrive(b []byte) (large, bulk int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.in.pass(b)
	bulk, a.in.passed = a.in.passed, 0
	return a.in.large, bulk
}

// incomplete returns how much of incomplete messages is to be accounted for.
func (a *answers) incomplete() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.in.large
}

// leave takes the next bytes that leave.
func (a *answers) leave(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.pass(b)
	if a.out.passed > 0 {
		a.hold.Give(a.out.passed)
		a.out.passed = 0
	}
}

// openedLocked says that the caller opens a stream, or says more about one.
func (a *answers) openedLocked(stream uint32) {
	if stream > a.last {
		a.last = stream
		a.open[stream] = struct{}{}
	}
}

// knownLocked reports whether a stream is open: gRPC drops what comes on others.
func (a *answers) knownLocked(stream uint32) bool {
	_, open := a.open[stream]
	return open
}

// resetLocked says that the caller has reset a stream.
func (a *answers) resetLocked(stream uint32) {
	if m := a.out.messages[stream]; m != nil && m.got+m.left >= largeAnswer {
		a.hold.Give(m.left)
	}
	a.out.drop(stream)
	a.closedLocked(stream)
}

// closedLocked says that nothing comes or leaves on a stream any more.
func (a *answers) closedLocked(stream uint32) {
	a.in.drop(stream)
	delete(a.open, stream)
	if len(a.open) == 0 {
		a.hold.Release() // nothing is left to be sent
	}
}
