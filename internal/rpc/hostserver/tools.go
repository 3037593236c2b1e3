package hostserver

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// toolService implements toolhost.v1.ToolService. Errors become statuses in guard.
type toolService struct {
	toolhostv1.UnimplementedToolServiceServer
	host    Tools
	calls   Calls
	guard   guard
	maxOpen int             // calls per Connect stream
	drain   <-chan struct{} // closed when the server shuts down
	tasks   *sync.WaitGroup // the goroutines that read streams; they end after their handler returned
	pool    *flow.Workers   // the goroutines of calls; each ends before its handler returns
}

// ListTools implements toolhost.v1.ToolService.
func (s *toolService) ListTools(ctx context.Context, req *toolhostv1.ListToolsRequest) (*toolhostv1.ListToolsResponse, error) {
	p, err := pageOf(req)
	if err != nil {
		return nil, err
	}
	query := hostpb.ToSelection(req.GetSelection())
	query.Principal = principalOf(ctx)
	query.MaxTools = p.wanted() // max_tools of the request counts over all pages
	var infos []tool.Info
	if query.MaxTools > 0 {
		if infos, err = s.host.ListPage(ctx, query, p.at.After); err != nil {
			return nil, err
		}
	}
	resp := p.fill(infos)
	resp.LedgerId = s.host.LedgerID()
	return resp, nil
}

// GetTool implements toolhost.v1.ToolService.
func (s *toolService) GetTool(ctx context.Context, req *toolhostv1.GetToolRequest) (*toolhostv1.GetToolResponse, error) {
	viewer := hostpb.ToViewer(req)
	viewer.Principal = principalOf(ctx)
	info, err := s.host.GetTool(ctx, req.GetName(), viewer)
	if err != nil {
		return nil, err
	}
	return &toolhostv1.GetToolResponse{Tool: hostpb.FromInfo(info)}, nil
}

// Call implements toolhost.v1.ToolService.
func (s *toolService) Call(ctx context.Context, req *toolhostv1.CallRequest) (*toolhostv1.CallResponse, error) {
	call, err := callOf(ctx, req.GetTool(), req.GetArguments(), req.GetOptions())
	if err != nil {
		return nil, err
	}
	ended := make(chan tool.Event, 1)
	s.host.Do(withAccount(ctx), call, func(tool.Execution) {}, func(ev tool.Event) { ended <- ev })
	select {
	case ev := <-ended:
		return responseOf(ev.Ended)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func responseOf(o *tool.Outcome) (*toolhostv1.CallResponse, error) {
	if o.Err != nil {
		return nil, o.Err
	}
	resp := &toolhostv1.CallResponse{
		CallId:   o.CallID,
		Plugin:   o.Plugin,
		Instance: o.Instance,
		Result:   toolpb.FromResult(o.Result),
		Replayed: o.Replayed,
	}
	if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
		err := tool.Errorf(tool.KindInvalidArgument, "the call was executed, but its result of %d bytes does not fit the answer of Call (%d); get it by the same call id through Execute or Connect", size, hostpb.MaxMessageBytes)
		err.CallID, err.Plugin, err.Instance = o.CallID, o.Plugin, o.Instance
		return nil, err
	}
	return resp, nil
}

// callOf returns the call that an RPC asks for, with what only the RPC itself says: who calls, until when, and where it
// belongs in a trace.
func callOf(ctx context.Context, name string, arguments []byte, options *toolhostv1.CallOptions) (tool.Call, error) {
	if id := options.GetCallId(); id != "" {
		if err := tool.CheckID(id); err != nil { // not the host's to say: it names the call, and what is no id may fit no message
			return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "the call id cannot be used: %w", err)
		}
	}
	call, err := hostpb.ToCall(name, arguments, options)
	if err != nil {
		failure := tool.AsError(err)
		failure.CallID = options.GetCallId()
		return call, failure
	}
	call.Principal = principalOf(ctx)
	if call.Approval != nil && overTCP(ctx) {
		call.Approval.ApprovedBy = unverified(call.Approval.ApprovedBy)
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := max(time.Until(deadline), 1) // 0 would mean no bound
		if call.Timeout == 0 || left < call.Timeout {
			call.Timeout = left
		}
	}
	if call.Traceparent == "" {
		if values := metadata.ValueFromIncomingContext(ctx, "traceparent"); len(values) > 0 {
			call.Traceparent = values[0]
		}
	}
	return call, nil
}
