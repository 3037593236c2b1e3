// Command call-go shows how to call tools: it lists tools, makes a call, sends the arguments of a
// call in pieces, cancels a call, and watches one.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "call-go:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	c, err := client.Dial("") // TOOLHOST_ADDR, or the default socket of the user
	if err != nil {
		return err
	}
	defer c.Close()
	id := "report-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, step := range []func() error{
		func() error { return list(ctx, out, c) },
		func() error { return call(ctx, out, c) },
		func() error { return stream(ctx, out, c, id) },
		func() error { return cancel(ctx, out, c) },
		func() error { return watch(ctx, out, c, id) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func list(ctx context.Context, out io.Writer, c *client.Client) error {
	tools, err := c.ListTools(ctx, tool.Query{})
	for _, t := range tools {
		fmt.Fprintln(out, "tool:", t.Spec.Name)
	}
	return err
}

func call(ctx context.Context, out io.Writer, c *client.Client) error {
	forecast, err := client.NewCall("forecast", map[string]any{"city": "Lagos", "days": 2})
	if err != nil {
		return err
	}
	outcome, err := c.Call(ctx, forecast)
	if err != nil {
		return err // an infrastructure error: a *tool.Error with a Kind
	}
	fmt.Fprintln(out, "call:", outcome.Result.Text()) // if outcome.Result.IsError, the failure that the tool reports
	return nil
}

// stream sends the arguments of a call in pieces, as a model generates them. The call has an id, so
// that watch can find it.
func stream(ctx context.Context, out io.Writer, c *client.Client, id string) error {
	execution, err := c.Open(ctx, tool.Call{ID: id, Tool: "report", Arguments: json.RawMessage(`{"text":"Sun`)}, false)
	if err != nil {
		return err
	}
	defer execution.Close()
	for complete := false; ; {
		event, err := execution.Next(ctx)
		if err != nil {
			return err
		}
		switch {
		case event.Status != nil && !complete: // the preview of the first piece
			fmt.Fprintln(out, "stream:", event.Status.Message)
			if err := execution.Send(ctx, []byte(`.","stations":2}`), true); err != nil {
				return err
			}
			complete = true
		case event.Ended != nil:
			return ended(out, "stream", event.Ended)
		}
	}
}

func cancel(ctx context.Context, out io.Writer, c *client.Client) error {
	report, err := client.NewCall("report", map[string]any{"text": "Fog.", "stations": 1000})
	if err != nil {
		return err
	}
	execution, err := c.Open(ctx, report, true)
	if err != nil {
		return err
	}
	defer execution.Close()
	for {
		event, err := execution.Next(ctx)
		if err != nil {
			return err
		}
		if event.Status != nil {
			execution.Cancel("the fog has lifted")
		}
		if event.Ended != nil {
			if event.Ended.Err != nil {
				fmt.Fprintln(out, "cancel:", event.Ended.Err.Kind)
				return nil
			}
			return ended(out, "cancel", event.Ended)
		}
	}
}

// watch reads the events of a call. Another program may have made the call, and it may still be
// running.
func watch(ctx context.Context, out io.Writer, c *client.Client, id string) error {
	for event, err := range c.WatchCall(ctx, tool.CallKey{ID: id}, 0) {
		if err != nil {
			return err
		}
		if p := event.Status; p != nil && p.Progress != nil {
			fmt.Fprintf(out, "watch: %g of %g\n", p.Progress.Done, p.Progress.Total)
		}
		if event.Ended != nil {
			return ended(out, "watch", event.Ended)
		}
	}
	return nil
}

func ended(out io.Writer, what string, outcome *tool.Outcome) error {
	if outcome.Err != nil {
		return outcome.Err
	}
	fmt.Fprintf(out, "%s: %s\n", what, outcome.Result.Text())
	return nil
}
