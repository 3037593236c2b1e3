package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/tool"
)

// OpenPipes begins a session with a server over its standard input and output, which the Conn owns.
// It passes lines of out that are no messages to stray. The end of ctx aborts OpenPipes, and does
// not end the session.
func OpenPipes(ctx context.Context, cfg Config, in io.WriteCloser, out io.ReadCloser, stray io.Writer) (*Conn, error) {
	p := newPipes(cfg, in, out, stray)
	return open(ctx, cfg, p, p.direct, p.hangUp)
}

func newPipes(cfg Config, in io.WriteCloser, out io.ReadCloser, stray io.Writer) *pipes {
	p := &pipes{
		in: in, out: out, stray: stray, reader: bufio.NewReaderSize(out, 64<<10), turn: make(chan struct{}, 1),
		most: messageBytes(cfg.MaxResultBytes), asked: map[jsonrpc.ID]string{}, asking: map[jsonrpc.ID]struct{}{},
		allowance: newAllowance(), largest: cfg.MaxResultBytes,
	}
	p.hold.On(cfg.Memory)
	p.hold.For("MCP server "+cfg.Plugin, false)
	if cfg.Log != nil {
		p.log = cfg.Log
	} else {
		p.log = io.Discard
	}
	p.open, p.gone = context.WithCancel(context.Background())
	p.direct = newDirect(p)
	return p
}

// messageBytes returns the bytes that a message may have. Base64 makes a result a third longer, and
// escapes make it longer still.
func messageBytes(result int) int { return result/3*4 + 1<<20 }

// Bounds of what a server may send without being asked.
const (
	noticeBurst  = 1_000 // notifications at once
	noticeRate   = 500   // notifications in a second
	maxQuestions = 32    // requests of the server without an answer
	edgeBytes    = 4 << 10
)

// codeTooLarge is the code of the error with which pipes answers a request in place of the server,
// whose answer is too large. It is outside of the range of JSON-RPC's own codes.
const codeTooLarge = -31_999

// codeNoMemory is the same for an answer for which there is no memory.
const codeNoMemory = -31_997

// pipes is the transport of a server on standard input and output: one JSON-RPC message in a line.
//
// It guards the SDK, which queues without a bound what a server sends, against a server that does
// not keep to the protocol. A line that is no message goes to the log, because programs print by
// mistake. An answer without a request is dropped, and so are the notifications above a rate. An
// answer that is too large is read and dropped, and its request gets an error; only if the request
// cannot be found in it does the session end. So a faulty answer costs one call, and not the others
// of the session.
//
// Read has one caller. Write and hangUp are safe for concurrent use.
type pipes struct {
	in         io.WriteCloser
	out        io.ReadCloser
	reader     *bufio.Reader
	stray, log io.Writer
	direct     *direct       // the requests that are not the SDK's
	most       int           // bytes of a message
	turn       chan struct{} // of capacity 1: taken by the writer of in

	closing sync.Once
	closed  error
	gone    context.CancelFunc // called by hangUp
	open    context.Context    // until hangUp

	hold    budget.Hold // for the message that Read handles
	held    int         // bytes that hold was asked for; used by Read
	largest int         // bytes of a result

	allowance allowance                             // used by Read
	progress  func(*mcp.ProgressNotificationParams) // used by Read; nil: the SDK gets progress

	mu     sync.Mutex
	asked  map[jsonrpc.ID]string   // the methods of the requests to the server that have no answer yet
	asking map[jsonrpc.ID]struct{} // requests of the server that have no answer yet
}

var (
	_ mcp.Transport     = (*pipes)(nil)
	_ mcp.Connection    = (*pipes)(nil)
	_ progressTransport = (*pipes)(nil)
)

// Connect implements mcp.Transport.
func (p *pipes) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID implements mcp.Connection. A pipe has one session.
func (p *pipes) SessionID() string { return "" }

// Close implements mcp.Connection. The SDK calls it when the session has ended.
func (p *pipes) Close() error { return p.hangUp() }

// hangUp closes the server's standard input. The server should end then, which ends Read. What
// stops the server closes its output, if it does not end.
func (p *pipes) hangUp() error {
	p.closing.Do(func() {
		p.gone()
		p.closed = p.in.Close()
	})
	return p.closed
}

// Write implements mcp.Connection. It waits for its turn until ctx ends, and then writes the whole
// message, because a part of one would break the session.
func (p *pipes) Write(ctx context.Context, msg jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	p.note(msg)
	return p.send(ctx, append(text, '\n'))
}

// send writes a line. It waits for its turn until ctx ends, and then writes the whole line.
func (p *pipes) send(ctx context.Context, line []byte) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	if _, err := p.in.Write(line); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return nil
}

// note records a request before it is sent, or that a question of the server has its answer.
func (p *pipes) note(msg jsonrpc.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if msg.IsCall() {
			p.asked[msg.ID] = msg.Method
		}
		if msg.Method == "tools/list" {
			p.direct.adopt(msg.Params)
		}
	case *jsonrpc.Response:
		delete(p.asking, msg.ID)
	}
}

// Read implements mcp.Connection.
func (p *pipes) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, dropped, err := p.line()
		switch {
		case err != nil:
			p.direct.lose(err)
			return nil, err
		case dropped != nil:
			answer, err := p.refuse(line, dropped)
			if answer != nil || err != nil {
				return answer, err
			}
			continue
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 || p.direct.deliver(text) {
			continue
		}
		var msg jsonrpc.Message
		if text[0] == '{' {
			msg, err = jsonrpc.DecodeMessage(text)
		}
		if msg == nil || err != nil {
			_, _ = p.stray.Write(append(text, '\n'))
			continue
		}
		if p.admit(msg) {
			return msg, nil
		}
	}
}

const (
	pieceBytes = 1 << 20 // of a line that is read, at most
	// freeBytes is the size of a message up to which no memory is reserved for it.
	freeBytes = 8 << 20
	// usualBytes is the size of a message up to which the memory of a message of this size is
	// reserved. Above it, that of the largest one is.
	usualBytes = 32 << 20
	// largePatience is how long a server may take for the rest of a larger message, for which others
	// may have to wait.
	largePatience = time.Minute
)

// line returns the next line. If it was dropped, because it is too large or because there is no
// memory for it, dropped says so, and line has its first and its last edgeBytes.
//
// A large line takes twice its size: while its pieces are joined, and then with the result that is
// decoded from it. line reserves that in two steps, those of needs. So few sessions read large
// messages at the same time, and the others wait. If all wait for each other, the budget lets the
// newest give up.
func (p *pipes) line() (line []byte, dropped *tool.Error, err error) {
	p.hold.Release()
	p.held = 0
	var text parts
	var head, tail []byte // of a line that is dropped
	var slow *time.Timer
	for {
		piece, err := p.reader.ReadSlice('\n')
		if need := p.needs(text.size + len(piece)); head == nil && need > p.held {
			if slow != nil {
				slow.Stop() // the server does not take the time of the reservation
			}
			if full := p.hold.Reserve(p.open, need-p.held); full != nil {
				dropped = noMemory(full)
			} else {
				slow = time.AfterFunc(largePatience, p.tooSlow)
				defer slow.Stop()
			}
			p.held = need
		}
		if head == nil && text.size+len(piece) > p.most {
			dropped = tooLarge(p.largest)
		}
		if dropped != nil && head == nil {
			head, tail = text.edges()
			text = parts{}
			p.hold.Release()
		}
		if head != nil {
			tail = append(tail, piece...)
			tail = tail[max(0, len(tail)-edgeBytes):]
		} else {
			text.add(piece)
		}
		switch {
		case err == nil && head != nil:
			return append(head, tail...), dropped, nil
		case err == nil:
			line = text.join()
			p.hold.Shrink(2 * int64(len(line)))
			return line, nil, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			p.hold.Release()
			return nil, nil, fmt.Errorf("%w: %w", ErrEnded, err)
		}
	}
}

// tooSlow ends Read.
func (p *pipes) tooSlow() {
	_, _ = fmt.Fprintf(p.log, "the server took more than %v for one message of more than %d MiB\n", largePatience, freeBytes>>20)
	_ = p.out.Close()
}

// needs returns the memory to reserve for a line of which size bytes have arrived, in bytes.
func (p *pipes) needs(size int) int {
	switch {
	case size <= freeBytes || size > p.most || p.hold.Account() == nil:
		return 0
	case size <= usualBytes:
		return 2 * min(usualBytes, p.most)
	default:
		return 2 * p.most
	}
}

// noMemory returns the outcome of a call whose answer found no memory.
func noMemory(full error) *tool.Error {
	return tool.Errorf(tool.KindUnavailable, "the tool was executed and its result is lost: %w; let the tool return less, or make fewer such calls at a time", full)
}

// parts is a text that grows without being copied. Its parts double, up to pieceBytes.
type parts struct {
	full [][]byte
	last []byte
	size int
}

func (t *parts) add(piece []byte) {
	t.size += len(piece)
	for len(piece) > 0 {
		if len(t.last) == cap(t.last) {
			if t.last != nil {
				t.full = append(t.full, t.last)
			}
			t.last = make([]byte, 0, max(len(piece), min(2*cap(t.last), pieceBytes)))
		}
		n := copy(t.last[len(t.last):cap(t.last)], piece)
		t.last, piece = t.last[:len(t.last)+n], piece[n:]
	}
}

// edges returns copies of the first and of the last edgeBytes of the text, or of what its first and
// its last part have of them.
func (t *parts) edges() (head, tail []byte) {
	first := t.last
	if len(t.full) > 0 {
		first = t.full[0]
	}
	head = append([]byte{}, first[:min(len(first), edgeBytes)]...)
	return head, slices.Clone(t.last[max(0, len(t.last)-edgeBytes):])
}

// join returns the whole text.
func (t *parts) join() []byte {
	if len(t.full) == 0 {
		return t.last
	}
	return bytes.Join(append(t.full, t.last), nil)
}

// idPattern matches the id of a message next to one of its ends.
var idPattern = regexp.MustCompile(`(?:^\{(?:"jsonrpc":\s*"2\.0",\s*)?|,\s*)"id":\s*(\d{1,18})(?:\s*\}\s*$|,\s*"(?:result|error|jsonrpc)")`)

// refuse returns the answer to a request whose own answer was dropped. edges are the ends of the
// server's message. If they do not name a request, the session cannot continue, because a call
// would wait forever.
func (p *pipes) refuse(edges []byte, why *tool.Error) (jsonrpc.Message, error) {
	for _, found := range idPattern.FindAllSubmatch(edges, -1) {
		number, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			continue
		}
		if p.direct.refuse(number, why) {
			return nil, nil
		}
		id, err := jsonrpc.MakeID(number)
		if _, asked := p.answers(id); err == nil && asked {
			code := int64(codeTooLarge)
			if why.Kind == tool.KindUnavailable {
				code = codeNoMemory
			}
			return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: why.Message}}, nil
		}
	}
	if bytes.Contains(edges, []byte(`"method"`)) || !bytes.HasPrefix(bytes.TrimSpace(edges), []byte("{")) {
		_, _ = fmt.Fprintf(p.log, "the server sent a large line that answers nothing; it was dropped: %s\n", why.Message)
		return nil, nil
	}
	return nil, fmt.Errorf("%w: a large message was dropped: %s", ErrEnded, why.Message)
}

// answers reports whether an id is that of a request without an answer, and records the answer. It
// returns the method of the request.
func (p *pipes) answers(id jsonrpc.ID) (method string, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	method, asked = p.asked[id]
	delete(p.asked, id)
	return method, asked
}

// admit reports whether the SDK gets a message of the server.
func (p *pipes) admit(msg jsonrpc.Message) bool {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		method, asked := p.answers(msg.ID)
		mend(method, msg)
		return asked
	case *jsonrpc.Request:
		if !msg.IsCall() {
			return p.allowance.take(p.log) && !passedProgress(p.progress, msg)
		}
		return p.question(msg)
	default:
		return false
	}
}

// passProgress implements progressTransport.
func (p *pipes) passProgress(to func(*mcp.ProgressNotificationParams)) { p.progress = to }

// passedProgress reports whether a notification is progress, and passes it to a function, unless
// that is nil.
func passedProgress(to func(*mcp.ProgressNotificationParams), msg *jsonrpc.Request) bool {
	if msg.Method != "notifications/progress" || to == nil {
		return false
	}
	var params mcp.ProgressNotificationParams
	if json.Unmarshal(msg.Params, &params) == nil {
		to(&params)
	}
	return true
}

// question reports whether a request of the server may wait for its answer. Further ones are
// dropped: an answer that refuses them could block Read, if the server does not read.
func (p *pipes) question(msg *jsonrpc.Request) bool {
	p.mu.Lock()
	_, twice := p.asking[msg.ID]
	admitted := !twice && len(p.asking) < maxQuestions && p.allowance.take(p.log)
	if admitted {
		p.asking[msg.ID] = struct{}{}
	}
	p.mu.Unlock()
	return admitted
}

// allowance limits what a server sends without being asked.
type allowance struct {
	limit   *rate.Limiter
	dropped int
}

func newAllowance() allowance { return allowance{limit: rate.NewLimiter(noticeRate, noticeBurst)} }

// take reports whether one more message is allowed. It logs how many were not, when there is room
// again.
func (a *allowance) take(log io.Writer) bool {
	if !a.limit.Allow() {
		a.dropped++
		return false
	}
	if a.dropped > 0 && a.limit.Tokens() >= noticeBurst/2 {
		_, _ = fmt.Fprintf(log, "%d messages of the server were dropped, because it sent more than %d in a second\n", a.dropped, noticeRate)
		a.dropped = 0
	}
	return true
}
