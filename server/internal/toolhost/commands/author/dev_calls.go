package author

import (
	"context"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// shownHost is a host that shows its calls on a screen, as their callers see them.
type shownHost struct {
	hostserver.Host
	screen *devScreen
}

// Open implements hostserver.Tools.
func (h shownHost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	quiet := call.OutcomeOnly
	call.OutcomeOnly = false // otherwise there are no events to show
	e, err := h.Host.Open(ctx, call, complete)
	if err != nil {
		h.screen.say("call", "%s: %v", call.Tool, err)
		return nil, err
	}
	h.begins(call, complete)
	return &shownExecution{e, call.Tool, quiet, h.screen}, nil
}

func (h shownHost) begins(call tool.Call, complete bool) {
	more := ""
	if !complete {
		more = "…"
	}
	h.screen.say("call", "%s %s%s", call.Tool, cli.OneLine(cli.Clip(string(call.Arguments), shownText)), more)
}

// shownText is the number of characters of arguments and results on the screen.
const shownText = 200

// shownExecution shows the events of a call when the caller receives them.
type shownExecution struct {
	tool.Execution
	name   string
	quiet  bool // the caller wants only the outcome
	screen *devScreen
}

// Next implements tool.Execution.
func (e *shownExecution) Next(ctx context.Context) (tool.Event, error) {
	for {
		event, err := e.Execution.Next(ctx)
		if err != nil {
			return event, err
		}
		e.screen.event(e.name, event)
		if event.Ended != nil || !e.quiet {
			return event, nil
		}
	}
}

// Send implements tool.Execution.
func (e *shownExecution) Send(ctx context.Context, text []byte, complete bool) error {
	if len(text) > 0 {
		e.screen.say("call", "%s … %s", e.name, cli.OneLine(cli.Clip(string(text), shownText)))
	}
	return e.Execution.Send(ctx, text, complete)
}

// event shows an event of a call. The screen shows log records among the records of the plugin.
func (s *devScreen) event(name string, e tool.Event) {
	switch {
	case e.Ended != nil:
		s.say("call", "%s ended: %s", name, ending(e.Ended))
	case e.Status != nil:
		s.say("status", "%s %s", name, operate.EventLine(e))
	}
}

// ending returns the outcome of a call as one line.
func ending(o *tool.Outcome) string {
	switch {
	case o.Err != nil:
		return cli.OneLine(fmt.Sprintf("%s: %s", o.Err.Kind, o.Err.Message))
	case o.Result.IsError:
		return "the tool says that it failed: " + shownLine(&o.Result)
	default:
		return fmt.Sprintf("%s (%v)", shownLine(&o.Result), o.Result.Duration.Round(time.Millisecond))
	}
}

// shownLine returns a result as one line.
func shownLine(r *tool.Result) string {
	text, facts := cli.Shown(r)
	line := cli.OneLine(cli.Clip(text, shownText))
	if facts != "" {
		line += " [" + cli.OneLine(cli.Clip(facts, shownText)) + "]"
	}
	return line
}
