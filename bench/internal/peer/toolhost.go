package peer

import (
	"context"
	"errors"
	"io"
	"strconv"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// Earlier ends the keys of the contenders of Before.
const Earlier = "-before"

// Before starts the toolhost of another revision, with its plugin, from the folder bin. The
// contenders differ from those of this revision only in the toolhost and the SDK of the plugin.
func (f *Field) Before(ctx context.Context, bin string) ([]Contender, error) {
	earlier, err := NewField(bin)
	if err != nil {
		return nil, err
	}
	f.owns(earlier.Close)
	host, err := earlier.Toolhost(ctx, House{})
	if err != nil {
		return nil, err
	}
	all := []Contender{host.Connect(), host.Call(), host.Execute()}
	for i := range all {
		all[i].Key += Earlier
		all[i].Title += ", before"
	}
	return all, nil
}

// Connect calls over the stream that all calls of a client share.
func (t *Toolhost) Connect() Contender {
	return Contender{Key: "connect", Title: "toolhost, Connect", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		most := shown
		outcome, err := t.client.Call(ctx, tool.Call{ID: t.id(), Tool: t.tool, Session: t.session, Arguments: arguments, MaxShown: &most})
		if err != nil {
			return 0, err
		}
		if len(outcome.Result.Content) != 1 {
			return 0, errors.New("the result is no single text")
		}
		return len(outcome.Result.Content[0].Text), nil
	}}
}

// Call uses the unary RPC with only generated code.
func (t *Toolhost) Call() Contender {
	return Contender{Key: "call", Title: "toolhost, Call", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		response, err := t.stub.Call(ctx, &toolhostv1.CallRequest{Tool: t.tool, Arguments: arguments, Options: t.options()})
		if err != nil {
			return 0, err
		}
		return length(response.GetResult()), nil
	}}
}

// Execute uses one stream per call with only generated code.
func (t *Toolhost) Execute() Contender {
	return Contender{Key: "execute", Title: "toolhost, Execute", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		stream, err := t.stub.Execute(ctx)
		if err != nil {
			return 0, err
		}
		if err := stream.Send(&toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: &toolhostv1.StartCall{
			Tool: t.tool, Arguments: arguments, Complete: true, Options: t.options()}}}); err != nil {
			return 0, err
		}
		if err := stream.CloseSend(); err != nil {
			return 0, err
		}
		n := 0
		for {
			response, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			if err != nil {
				return 0, err
			}
			n += len(response.GetEvent().GetChunk().GetData()) + length(response.GetEvent().GetEnded().GetResult())
		}
	}}
}

func (t *Toolhost) options() *toolhostv1.CallOptions {
	return &toolhostv1.CallOptions{CallId: t.id(), MaxShownBytes: proto.Uint64(shown)}
}

// id returns a new call id, as careful callers choose it.
func (t *Toolhost) id() string { return t.run + "-" + strconv.FormatUint(t.calls.Add(1), 10) }

func length(r *toolv1.Result) int {
	n := 0
	for _, c := range r.GetContent() {
		n += len(c.GetText())
	}
	return n
}
