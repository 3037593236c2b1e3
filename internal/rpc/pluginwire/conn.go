package pluginwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ErrConnLost says that the connection to the plugin is gone, by itself or by Close. Errors that wrap it are *tool.Error
// of tool.KindUnavailable; whoever knows the process can tell whether it crashed.
var ErrConnLost = errors.New("the connection to the plugin is lost")

const (
	// maxPiece is how much payload a frame may carry, by contract.
	maxPiece = 64 << 10
	// maxReplacement is how large replaced arguments can be: a message less what is around them.
	maxReplacement = maxMessage - 1<<10
	// maxReason clips the words that go with a cancel.
	maxReason = 1 << 10
	// outboxBytes is how much may wait to be sent to a plugin before callers wait, beside what gRPC holds.
	outboxBytes = 256 << 10

	defaultMaxResultBytes = 64 << 20
	defaultCallWindow     = 256 << 10
)

// ConnConfig bounds what a plugin may make the host hold.
type ConnConfig struct {
	// MaxResultBytes bounds the payload of one call's result. A call that exceeds it ends with an error. 0: 64 MiB.
	MaxResultBytes int
	// CallWindow bounds what one call may send and its reader has not taken, in bytes; a frame may exceed it. 0: 256 KiB.
	CallWindow int
}

// Conn is the host's half of the contract: one connection to one plugin process. All methods may be called from any
// goroutine.
type Conn struct {
	cfg    ConnConfig
	client pluginv1.ToolPluginServiceClient
	ctx    context.Context // the stream's
	cancel context.CancelFunc
	done   chan struct{}
	reader sync.WaitGroup // the goroutine that reads the stream

	mu     sync.Mutex
	out    *flow.Stream[*pluginv1.ConnectRequest, *pluginv1.ConnectResponse] // nil until open
	opened bool                                                              // Open was called
	calls  map[uint32]*Call                                                  // those without an end
	last   uint32                                                            // the number of the newest call
	err    *tool.Error                                                       // why the connection is lost
}

// NewConn returns a connection that is not open. Calls need Open; Describe does not.
func NewConn(cc grpc.ClientConnInterface, cfg ConnConfig) *Conn {
	if cfg.MaxResultBytes <= 0 {
		cfg.MaxResultBytes = defaultMaxResultBytes
	}
	if cfg.CallWindow <= 0 {
		cfg.CallWindow = defaultCallWindow
	}
	cfg.CallWindow = min(cfg.CallWindow, math.MaxInt32)
	ctx, cancel := context.WithCancel(context.Background())
	return &Conn{
		cfg:    cfg,
		client: pluginv1.NewToolPluginServiceClient(cc),
		ctx:    ctx,
		cancel: cancel,
		done:   make(chan struct{}),
		calls:  map[uint32]*Call{},
	}
}

// Open opens the stream that carries all calls. ctx bounds only the opening; the stream lives until the plugin ends it
// or Close. Open is called once; after an error the Conn is of no use but to be closed.
func (c *Conn) Open(ctx context.Context) error {
	c.mu.Lock()
	again := c.opened
	c.opened = true
	c.mu.Unlock()
	if again {
		return tool.Errorf(tool.KindInternal, "opening the stream to the plugin: it was opened before")
	}
	abandon := context.AfterFunc(ctx, c.cancel)
	stream, err := c.client.Connect(metadata.AppendToOutgoingContext(c.ctx, flow.BatchKey, flow.BatchValue))
	if !abandon() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.lose(err)
		return fmt.Errorf("opening the stream to the plugin: %w", c.Err())
	}
	c.attach(stream)
	return nil
}

func (c *Conn) attach(stream grpc.BidiStreamingClient[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return // closed meanwhile, which has ended the stream
	}
	send := func(m *pluginv1.ConnectRequest) error {
		err := stream.Send(m)
		if err != nil && !errors.Is(err, io.EOF) { // after io.EOF, read receives the cause
			c.lose(err)
		}
		return err
	}
	c.out = flow.NewStream[*pluginv1.ConnectRequest, *pluginv1.ConnectResponse](send, linkRequest, outboxBytes)
	c.reader.Go(func() { c.read(stream) }) // ends with the stream; Close waits for it
}

// linkRequest is the link function of the stream; see flow.NewStream.
func linkRequest(first *pluginv1.ConnectRequest, batch []*pluginv1.ConnectRequest, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}

// Describe asks the plugin for its tools. Examples that are no JSON objects are left out and metadata that is no JSON
// comes as strings; names and schemas are as the plugin says, unchecked.
func (c *Conn) Describe(ctx context.Context, req DescribeRequest) (tool.Description, error) {
	resp, err := c.client.Describe(ctx, &pluginv1.DescribeRequest{
		Tools:   req.Tools,
		Session: validText(req.Session),
		Context: toolpb.FromValues(req.Context),
	})
	if err != nil {
		e := toolpb.FromStatusError(err)
		e.Message = "asking the plugin for its tools: " + e.Message
		return tool.Description{}, e
	}
	return toDescription(resp), nil
}

// Done is closed when the connection is lost or closed. Err then says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection is lost: a *tool.Error that wraps ErrConnLost; nil as long as it is not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loss()
}

// loss is Err under the lock. Everyone gets a copy, to add to it what he knows.
func (c *Conn) loss() error {
	if c.err == nil {
		return nil
	}
	own := *c.err
	return &own
}

// Close ends the stream and waits for its goroutines. Calls that have no end yet end with ErrConnLost. It does not
// close the gRPC connection. It may be called more than once.
func (c *Conn) Close() error {
	c.lose(errors.New("toolhost closed it"))
	c.mu.Lock()
	out := c.out
	c.mu.Unlock()
	if out != nil {
		out.Close()
	}
	c.reader.Wait()
	return nil
}

// lose ends the connection and all its calls, once.
func (c *Conn) lose(cause error) {
	c.cancel()
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = lost(cause)
	err, calls := c.err, c.calls
	c.calls = nil
	close(c.done)
	c.mu.Unlock()
	for _, call := range calls {
		call.inbox.Finish(err)
	}
}

// lost hides the cause but for its words: an io.EOF would look like the end of a call.
func lost(cause error) *tool.Error {
	words := toolpb.FromStatusError(cause).Message
	if errors.Is(cause, io.EOF) {
		words = "the plugin ended the stream"
	}
	err := fmt.Errorf("%w: %s", ErrConnLost, words)
	return &tool.Error{Kind: tool.KindUnavailable, Message: err.Error(), Err: err}
}

// read hands the plugin's frames to their calls until the stream ends. It never waits for a call's reader.
func (c *Conn) read(stream grpc.BidiStreamingClient[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) {
	for first := true; ; first = false {
		frame, err := stream.Recv()
		if err != nil {
			c.lose(err)
			return
		}
		if first { // the headers are there, and asking for them does not wait
			if header, err := stream.Header(); err == nil {
				c.out.PeerMetadata(header.Get(flow.BatchKey))
			}
		}
		c.out.Receive(frame, c.dispatch)
	}
}

// dispatch gives a frame to its call. Frames for a number that has ended, or never was, are ignored.
func (c *Conn) dispatch(frame *pluginv1.ConnectResponse) {
	frame.Ack, frame.AckToken, frame.Batch = 0, 0, nil // belong to the stream; they do not cost the call credit
	end := frame.GetEnd() != nil
	c.mu.Lock()
	call := c.calls[frame.GetCall()]
	if end {
		delete(c.calls, frame.GetCall())
	}
	c.mu.Unlock()
	switch {
	case call == nil:
	case end:
		call.ended(frame)
	default:
		if frame.GetReadArtifact() != nil {
			call.asked()
		}
		if err := call.inbox.Put(frame, frame.SizeWire()); errors.Is(err, flow.ErrOverrun) {
			call.fail(tool.Errorf(tool.KindInternal, "the plugin broke the contract: it sent more than its credit allows"))
		}
	}
}

// forget makes later frames of the call ignored. It reports whether the call had no end yet.
func (c *Conn) forget(number uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.calls[number]
	delete(c.calls, number)
	return open
}
