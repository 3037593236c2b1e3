// Command call-go shows what a caller of toolhost does: it lists tools, makes a call, brings one its arguments in pieces,
// cancels one, and watches one.
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
	c, err := client.Dial("") // TOOLHOST_ADDR, else the toolhost of this user
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
	outcome, err := c.Call(ctx, tool.Call{Tool: "forecast", Arguments: json.RawMessage(`{"city":"Lagos","days":2}`)})
	if err != nil {
		return err // of the machinery: a *tool.Error with a Kind
	}
	fmt.Fprintln(out, "call:", outcome.Result.Text()) // also if outcome.Result.IsError: what the tool says went wrong
	return nil
}

// stream brings a call its arguments as a model would write them. The call has an id, so that it can be watched.
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
		case event.Status != nil && !complete: // what the tool shows of the first piece
			fmt.Fprintln(out, "stream:", event.Status.Tip)
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
	execution, err := c.Open(ctx, tool.Call{Tool: "report", Arguments: json.RawMessage(`{"text":"Fog.","stations":1000}`)}, true)
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

// watch reads all that happened to a call, which may be another program's, and may still run.
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
