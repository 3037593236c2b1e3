package host_test

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/internal/host/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// settlingConn is a connection that answers what became of calls itself.
type settlingConn struct {
	pluginconn.Conn
	tools *fixture
}

func (c *settlingConn) Start(ctx context.Context, start pluginconn.Start) (pluginconn.Call, error) {
	if !start.Settle {
		return c.Conn.Start(ctx, start)
	}
	asked := &settlingCall{lost: c.Done(), ended: make(chan tool.Event, 1), over: make(chan struct{})}
	run, stop := context.WithCancel(context.Background())
	asked.stop = stop
	go func() { // ends with the tool
		defer close(asked.over)
		said, err := c.tools.tools[start.Tool].Settle(run, tool.Call{
			ID: start.CallID, Tool: start.Tool, Arguments: json.RawMessage(start.Arguments), Session: start.Session, Context: start.Values, Timeout: start.Timeout,
		})
		outcome := tool.Outcome{CallID: start.CallID}
		if err != nil {
			outcome.Err = tool.AsError(err)
		} else {
			outcome.Settled = &said
		}
		asked.ended <- tool.Event{Ended: &outcome}
	}()
	return asked, nil
}

// settlingCall is a request what became of a call.
type settlingCall struct {
	lost  <-chan struct{}
	ended chan tool.Event
	stop  func()
	over  chan struct{}
}

func (c *settlingCall) Next(ctx context.Context) (tool.Event, error) {
	select {
	case ev := <-c.ended:
		return ev, nil
	case <-c.lost:
		return tool.Event{}, pluginconn.ErrLost
	case <-ctx.Done():
		return tool.Event{}, context.Cause(ctx)
	}
}

func (c *settlingCall) Append(context.Context, []byte) error              { return nil }
func (c *settlingCall) Complete(context.Context, []byte) error            { return nil }
func (c *settlingCall) Answer(context.Context, uint32, tool.Answer) error { return nil }
func (c *settlingCall) Cancel(string)                                     { c.stop() }
func (c *settlingCall) Close()                                            { c.stop() }
