package hostserver

import (
	"sync"

	"github.com/toolhost/toolhost/internal/budget"
)

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
