package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use logging, which 2026-07-28 deprecates.

// events passes the events of a call to its client: progress, if the request has a progress token,
// and the records of the log that the client wants.
type events struct {
	req    *mcp.CallToolRequest
	token  any
	logs   bool // the client may want the log
	status tool.Status
	last   float64 // the progress that was sent last
	sent   int     // how many statuses were sent
}

func newEvents(req *mcp.CallToolRequest, logs bool) *events {
	return &events{req: req, token: req.Params.GetProgressToken(), logs: logs}
}

// wanted reports whether the client gets any event of the call besides its outcome.
func (e *events) wanted() bool {
	_, logs := e.req.Params.Meta[mcp.MetaKeyLogLevel] // of 2026-07-28
	return e.token != nil || logs || e.logs
}

// pass sends what an event says. A client that cannot be reached is noticed by the end of its
// request.
func (e *events) pass(ctx context.Context, event tool.Event) {
	switch {
	case event.Status != nil && e.token != nil:
		e.progress(ctx, *event.Status)
	case event.Log != nil:
		_ = e.req.Session.Log(ctx, &mcp.LoggingMessageParams{
			Level: levelOf(event.Log.Level), Logger: e.req.Params.Name, Data: logData(event.Log),
		})
	}
}

// progress sends a status. MCP requires that progress grows with each notification. A tool that
// reports no numbers has its statuses counted.
func (e *events) progress(ctx context.Context, status tool.Status) {
	e.status = e.status.Fold(status)
	params := &mcp.ProgressNotificationParams{ProgressToken: e.token, Message: e.status.Message}
	if p := e.status.Progress; p != nil {
		params.Progress, params.Total = p.Done, p.Total
		if p.Message != "" {
			params.Message = p.Message
		}
	} else {
		params.Progress = e.last + 1
	}
	if e.sent > 0 && params.Progress <= e.last {
		return
	}
	e.sent++
	e.last = params.Progress
	_ = e.req.Session.NotifyProgress(ctx, params)
}

func levelOf(level tool.LogLevel) mcp.LoggingLevel {
	switch level {
	case tool.LogDebug:
		return "debug"
	case tool.LogWarn:
		return "warning"
	case tool.LogError:
		return "error"
	default:
		return "info"
	}
}

// logData returns a record as MCP has it: its message alone, or an object if it has attributes.
func logData(r *tool.LogRecord) any {
	if len(r.Attributes) == 0 {
		return r.Message
	}
	data := map[string]any{"message": r.Message}
	for key, value := range r.Attributes {
		if _, taken := data[key]; !taken && json.Valid(value) {
			data[key] = value
		}
	}
	return data
}
