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
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ErrConnLost says that the connection to the plugin was lost or closed. Errors that wrap it are
// *tool.Error of tool.KindUnavailable. Package process knows whether the plugin crashed.
var ErrConnLost = errors.New("the connection to the plugin is lost")

const (
	// maxPiece is the maximum payload of a frame in the contract.
	maxPiece = 64 << 10
	// maxReplacement is the maximum size of replaced arguments: a message without the rest of its
	// frame.
	maxReplacement = maxMessage - 1<<10
	// maxReason limits the reason of a cancellation.
	maxReason = 1 << 10
	// outboxBytes is the number of bytes queued for a plugin from which callers block, in addition
	// to gRPC's own buffers.
	outboxBytes = 256 << 10

	defaultMaxResultBytes = 64 << 20
	defaultCallWindow     = 256 << 10
)

// ConnConfig limits the memory that a plugin can occupy in the host.
type ConnConfig struct {
	// MaxResultBytes is the maximum payload of one result. A call that exceeds it ends with an
	// error. 0 means 64 MiB.
	MaxResultBytes int
	// CallWindow is the number of bytes that one call may send before its reader takes them; one
	// frame may exceed it. 0 means 256 KiB.
	CallWindow int
}

// Conn is the host's end of the contract: one connection to one plugin process. All methods are
// safe for concurrent use.
type Conn struct {
	cfg    ConnConfig
	client pluginv1.ToolPluginServiceClient
	ctx    context.Context // the context of the stream
	cancel context.CancelFunc
	done   chan struct{}
	reader sync.WaitGroup // the goroutine that reads the stream

	mu     sync.Mutex
	out    *flow.Stream[*pluginv1.ConnectRequest, *pluginv1.ConnectResponse] // nil until open
	opened bool                                                              // Open was called
	calls  map[uint32]*Call                                                  // calls that have not ended
	last   uint32                                                            // the number of the newest call
	err    *tool.Error                                                       // why the connection was lost
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

// Open opens the stream that carries all calls. ctx limits only the opening. The stream ends when
// the plugin ends it, or with Close. Open may be called once; after an error the caller can only
// close the Conn.
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
		return // Close was called meanwhile and has ended the stream
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

// Describe requests the description of the plugin. It drops examples that are not JSON objects and
// converts metadata that is not JSON to strings. It does not check names and schemas.
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

// Done returns a channel that is closed when the connection is lost or closed. Err then returns the
// reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection was lost, as a *tool.Error that wraps ErrConnLost, or nil.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loss()
}

// loss is Err with mu held. It returns a copy, because callers add their own details.
func (c *Conn) loss() error {
	if c.err == nil {
		return nil
	}
	copied := *c.err
	return &copied
}

// Close ends the stream and waits for its goroutines. Calls that have not ended end with
// ErrConnLost. Close does not close the gRPC connection. It may be called more than once.
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

// lose ends the connection and all its calls. Only the first call has an effect.
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

// lost keeps only the message of the cause, because a wrapped io.EOF would look like the end of a
// call.
func lost(cause error) *tool.Error {
	words := toolpb.FromStatusError(cause).Message
	if errors.Is(cause, io.EOF) {
		words = "the plugin ended the stream"
	}
	err := fmt.Errorf("%w: %s", ErrConnLost, words)
	return &tool.Error{Kind: tool.KindUnavailable, Message: err.Error(), Err: err}
}

// read passes the plugin's frames to their calls until the stream ends. It does not wait for
// readers of calls.
func (c *Conn) read(stream grpc.BidiStreamingClient[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) {
	for first := true; ; first = false {
		frame, err := stream.Recv()
		if err != nil {
			c.lose(err)
			return
		}
		if first { // with the first frame the headers have arrived, so Header does not block
			if header, err := stream.Header(); err == nil {
				c.out.PeerMetadata(header.Get(flow.BatchKey))
			}
		}
		c.out.Receive(frame, c.dispatch)
	}
}

// dispatch passes a frame to its call. It ignores frames for numbers that are not open.
func (c *Conn) dispatch(frame *pluginv1.ConnectResponse) {
	frame.Ack, frame.AckToken, frame.Batch = 0, 0, nil // these fields belong to the stream and cost the call no credit
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

// forget makes later frames of the call ignored. It reports whether the call had not ended.
func (c *Conn) forget(number uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.calls[number]
	delete(c.calls, number)
	return open
}
