package pluginwire

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// Handler implements a plugin. Its methods are called concurrently. A panic in a method ends that
// call or request, not the process.
type Handler interface {
	// Describe returns the description of the plugin. An error that is or wraps a *tool.Error keeps
	// its kind.
	Describe(ctx context.Context, req DescribeRequest) (tool.Description, error)
	// Call executes one call, in its own goroutine. ctx ends at the deadline of the call, when the
	// host cancels the call, and when the connection ends; context.Cause returns a *tool.Error with
	// the reason. ctx also ends after Call has returned. An error that is or wraps a *tool.Error
	// becomes the outcome, an error of ctx becomes its cause, and any other error becomes internal.
	// The result must not change after the return.
	Call(ctx context.Context, call *ServerCall) (tool.Result, error)
}

// Settler is a Handler that can say what became of an earlier call. With any other Handler, the
// question ends with an error of kind unsupported.
type Settler interface {
	// Settle says what became of the earlier call with the id and the arguments of call, and changes
	// nothing. ctx and errors are those of Handler.Call.
	Settle(ctx context.Context, call *ServerCall) (tool.Settlement, error)
}

// ServerConfig configures the plugin's end.
type ServerConfig struct {
	// Logger receives errors, such as panics with their stacks. nil means slog.Default.
	Logger *slog.Logger
	// MaxArgumentBytes is the maximum size of the argument text of one call. A call that exceeds it
	// ends with an error. 0 means 64 MiB.
	MaxArgumentBytes int
}

// Register registers the handler on s, which should have ServerOptions.
func Register(s grpc.ServiceRegistrar, handler Handler, cfg ServerConfig) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.MaxArgumentBytes <= 0 {
		cfg.MaxArgumentBytes = defaultMaxArgumentBytes
	}
	pluginv1.RegisterToolPluginServiceServer(s, &server{handler: handler, cfg: cfg})
}

const defaultMaxArgumentBytes = 64 << 20

// server is the plugin's end of the contract.
type server struct {
	pluginv1.UnimplementedToolPluginServiceServer
	handler Handler
	cfg     ServerConfig
}

// Describe implements pluginv1.ToolPluginServiceServer.
func (s *server) Describe(ctx context.Context, req *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	var description tool.Description
	err := s.guard(slog.String("request", "describe"), func() (err error) {
		description, err = s.handler.Describe(ctx, DescribeRequest{
			Tools:   req.GetTools(),
			Session: req.GetSession(),
			Context: toolpb.ToValues(req.GetContext()),
		})
		return err
	})
	if err != nil {
		return nil, toolpb.StatusError(err)
	}
	return fromDescription(description), nil
}

// Connect implements pluginv1.ToolPluginServiceServer. It returns when the stream and all calls
// have ended.
func (s *server) Connect(stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) error {
	if err := stream.SendHeader(metadata.Pairs(flow.BatchKey, flow.BatchValue)); err != nil {
		return err
	}
	session := newStreamSession(s, stream)
	defer session.close()
	return session.read(stream)
}

// maxEnd limits the end of a call, so that it fits into a message. Only content can be sent in
// chunks before the end.
const maxEnd = 1 << 20

// endFrame holds all parts of a call's last frame in one allocation, because every call has one.
type endFrame struct {
	frame  pluginv1.ConnectResponse
	set    pluginv1.ConnectResponse_End
	end    pluginv1.CallEnd
	result pluginv1.CallEnd_Result
}

// endOverhead is the size of the frame without the outcome: some tags and lengths, and the number
// of the call.
const endOverhead = 32

// of returns the frame for a call.
func (e *endFrame) of(number uint32) *pluginv1.ConnectResponse {
	e.set.End = &e.end
	e.frame.Call, e.frame.Frame = number, &e.set
	return &e.frame
}

// sendResult sends in chunks what does not fit into the end of the call, puts the rest into end,
// and returns its approximate size. It waits for credit until the call's context ends.
func (c *ServerCall) sendResult(result tool.Result, end *endFrame) (size int, err error) {
	if len(result.Content) > maxBlocks {
		return 0, tool.Errorf(tool.KindInternal, "the tool's result has %d blocks; there may be %d", len(result.Content), maxBlocks)
	}
	out := toolpb.FromResult(result)
	room := maxPiece // for the payload of all blocks together
	for i, block := range result.Content {
		payload := takePayload(&block, max(room, 0))
		if payload == nil {
			if i+1 < len(result.Content) { // the last block needs no room for others
				room -= out.Content[i].SizeWire()
			}
			continue
		}
		out.Content[i] = toolpb.FromContent(block)
		if err := c.sendChunks(uint32(i), payload); err != nil {
			return 0, err
		}
	}
	if size = out.SizeWire(); size > maxEnd {
		return 0, tool.Errorf(tool.KindInternal, "the effects, metadata and artifacts of the tool's result have %d bytes; at most %d can be sent", size, maxEnd)
	}
	end.result.Result = out
	end.end.Outcome = &end.result
	return size + endOverhead, nil
}

// takePayload removes and returns the payload of a block if it exceeds room bytes, and otherwise
// returns nil.
func takePayload(block *tool.Content, room int) (payload []byte) {
	switch block.Kind {
	case tool.ContentText:
		if len(block.Text) > room {
			payload, block.Text = []byte(block.Text), ""
		}
	case tool.ContentJSON:
		if len(block.JSON) > room {
			payload, block.JSON = block.JSON, nil
		}
	case tool.ContentImage, tool.ContentFile:
		if len(block.Data) > room {
			payload, block.Data = block.Data, nil
		}
	}
	return payload
}

func (c *ServerCall) sendChunks(index uint32, payload []byte) error {
	for len(payload) > 0 {
		n := min(len(payload), maxPiece)
		chunk := &pluginv1.ContentChunk{Index: index, Data: payload[:n]}
		frame := &pluginv1.ConnectResponse{Call: c.number, Frame: &pluginv1.ConnectResponse_Chunk{Chunk: chunk}}
		if err := c.send(c.ctx, frame); err != nil {
			return err
		}
		payload = payload[n:]
	}
	return nil
}

// fail puts err into the end, clipped to its maximum size, and returns its approximate size.
func (e *endFrame) fail(err *tool.Error) (size int) {
	out := toolpb.FromError(err)
	out.Message = clip(out.Message, maxPiece)
	if size = out.SizeWire(); size > maxEnd {
		out.Exit, out.Plugin, out.Instance, out.CallId = nil, "", "", ""
		size = out.SizeWire()
	}
	e.end.Outcome = &pluginv1.CallEnd_Error{Error: out}
	return size + endOverhead
}

// maxSettlementReason is the limit of the contract.
const maxSettlementReason = 1 << 10

var verdicts = map[tool.Verdict]pluginv1.SettlementVerdict{
	tool.VerdictHappened:     pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED,
	tool.VerdictDidNotHappen: pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN,
}

// settle puts an answer to StartCall.settle into the end, and returns its approximate size. It
// leaves out a result that is too large: that the call happened is worth more than its result.
func (e *endFrame) settle(callID string, s tool.Settlement) (size int) {
	out := &pluginv1.Settlement{CallId: validText(callID), Verdict: pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_UNKNOWN}
	if verdict, ok := verdicts[s.Verdict]; ok {
		out.Verdict = verdict
	}
	out.Reason = clip(validText(s.Reason), maxSettlementReason-len("…"))
	if s.Verdict == tool.VerdictHappened && s.Result != nil {
		out.Result = toolpb.FromResult(*s.Result)
		if out.Result.SizeWire() > maxEnd {
			out.Result = nil
		}
	}
	e.end.Outcome = &pluginv1.CallEnd_Settlement{Settlement: out}
	return out.SizeWire() + endOverhead
}
