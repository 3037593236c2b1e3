package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// List tools and call one.
func Example() {
	defer serveTools()()
	c, err := client.Dial("") // TOOLHOST_ADDR, or the default socket of the user
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	call, err := client.NewCall("echo", map[string]any{"text": "hello"})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := c.Call(context.Background(), call)
	switch {
	case err != nil: // an infrastructure failure
		fmt.Println("the call failed:", err)
	case outcome.Result.IsError: // the tool reports a failure, for the model
		fmt.Println("the tool failed:", outcome.Result.Text())
	default:
		fmt.Println(outcome.Result.Text())
	}
	// Output: hello
}

// The arguments of a call can be any value that encodes to a JSON object.
func ExampleNewCall() {
	type echo struct {
		Text string `json:"text"`
	}
	call, err := client.NewCall("echo", echo{Text: "hello"})
	if err != nil {
		log.Fatal(err)
	}
	call.Session = "notes" // optional fields are those of tool.Call
	fmt.Println(call.Tool, string(call.Arguments))
	// Output: echo {"text":"hello"}
}

// List the tools that may be called without supervision.
func ExampleClient_ListTools() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	dangerous := false
	tools, err := c.ListTools(context.Background(), tool.Query{Dangerous: &dangerous, Names: []string{"danger", "echo", "talk"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools {
		fmt.Println(t.Spec.Name)
	}
	// Output:
	// echo
	// talk
}

// Render tools as the value of `tools` in a request to a model provider.
func ExampleClient_RenderTools() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	rendered, err := c.RenderTools(context.Background(), tool.FormatAnthropic, tool.Query{Names: []string{"echo"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rendered.MediaType, rendered.Tools)
	// Output: application/json [echo]
}

// Show the statuses of a call while it runs.
func ExampleClient_Follow() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	call, err := client.NewCall("steps", map[string]int{"count": 2, "bytes": 0})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Follow(context.Background(), call, func(event tool.Event) {
		if s := event.Status; s != nil && s.Progress != nil {
			fmt.Println(s.Progress.Done, "of", s.Progress.Total)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 of 2
	// 2 of 2
}

// Send the arguments of a call while a model still generates them.
func ExampleClient_Open() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	ctx := context.Background()
	execution, err := c.Open(ctx, tool.Call{ID: "run-1.turn-2.0", Tool: "echo"}, false)
	if err != nil {
		log.Fatal(err)
	}
	defer execution.Close()
	for _, piece := range []string{`{"te`, `xt":"hello"}`} {
		if err := execution.Send(ctx, []byte(piece), false); err != nil {
			log.Fatal(err)
		}
	}
	if err := execution.Send(ctx, nil, true); err != nil { // the arguments are complete: execute
		log.Fatal(err)
	}
	for {
		event, err := execution.Next(ctx)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		if event.Ended != nil {
			fmt.Println(event.Ended.Result.Text())
		}
	}
	// Output: hello
}

// Repeat a call after a lost connection: the same call id returns the stored outcome instead of
// executing the tool again.
func ExampleClient_Call_resume() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	call, err := client.NewCall("count", map[string]string{"key": "a"})
	if err != nil {
		log.Fatal(err)
	}
	call.ID = "run-1.turn-1.0"
	for range 2 {
		outcome, err := c.Call(context.Background(), call)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome.Result.Text(), outcome.Replayed)
	}
	// Output:
	// 1 false
	// 1 true
}

// Decide by the kind of an infrastructure failure what to do next.
func ExampleClient_Call_errors() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	for _, kind := range []tool.Kind{tool.KindUnavailable, tool.KindOutcomeUnknown, tool.KindDenied} {
		call, err := client.NewCall("break", map[string]any{"kind": kind})
		if err != nil {
			log.Fatal(err)
		}
		_, err = c.Call(context.Background(), call)
		var failure *tool.Error
		if !errors.As(err, &failure) {
			log.Fatal(err) // does not happen: every error is a *tool.Error
		}
		switch failure.Kind {
		case tool.KindUnavailable, tool.KindRateLimited:
			fmt.Println("retry after", failure.RetryAfter)
		case tool.KindOutcomeUnknown:
			fmt.Println("find out what happened before a retry")
		default:
			fmt.Println("do not retry:", failure.Kind)
		}
	}
	// Output:
	// retry after 1.5s
	// find out what happened before a retry
	// do not retry: denied
}

// Show a person the final arguments of a call that needs approval, then repeat the call with the
// approval.
func ExampleClient_Call_approval() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	call := tool.Call{Tool: "danger"}
	_, err := c.Call(context.Background(), call)
	var failure *tool.Error
	if !errors.As(err, &failure) || failure.Kind != tool.KindApprovalRequired {
		log.Fatal(err)
	}
	// Here a person reads failure.Arguments and agrees.
	call.Approval = &tool.Approval{ApprovedBy: "Ann", ArgumentsSHA256: failure.ArgumentsSHA256}
	outcome, err := c.Call(context.Background(), call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Result.Text())
	// Output: done
}

// Follow a call that another process made.
func ExampleClient_WatchCall() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	ctx := context.Background()
	call, err := client.NewCall("echo", map[string]string{"text": "hello"})
	if err != nil {
		log.Fatal(err)
	}
	call.ID = "nightly-report"
	if _, err := c.Call(ctx, call); err != nil {
		log.Fatal(err)
	}
	for event, err := range c.WatchCall(ctx, tool.CallKey{ID: "nightly-report"}, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Ended != nil {
			fmt.Println(event.Ended.Result.Text())
		}
	}
	// Output: hello
}

// Cancel a call by its id, from any process.
func ExampleClient_CancelCall() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	ctx := context.Background()
	call, err := client.NewCall("wait", map[string]string{"key": "a"})
	if err != nil {
		log.Fatal(err)
	}
	call.ID = "long-job"
	execution, err := c.Open(ctx, call, true)
	if err != nil {
		log.Fatal(err)
	}
	defer execution.Close()
	if _, err := execution.Next(ctx); err != nil { // the call has started
		log.Fatal(err)
	}
	if err := c.CancelCall(ctx, tool.CallKey{ID: "long-job"}, "no longer needed"); err != nil {
		log.Fatal(err)
	}
	for event, err := range c.WatchCall(ctx, tool.CallKey{ID: "long-job"}, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Ended != nil {
			fmt.Println(event.Ended.Err.Kind)
		}
	}
	// Output: cancelled
}

// Read a result that was too large to include.
func ExampleClient_ReadArtifact() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	ctx := context.Background()
	call, err := client.NewCall("large", map[string]any{"bytes": 10_000, "kind": "text"})
	if err != nil {
		log.Fatal(err)
	}
	shown := 100 // bytes of text in the result
	call.MaxShown = &shown
	outcome, err := c.Call(ctx, call)
	if err != nil {
		log.Fatal(err)
	}
	for _, block := range outcome.Result.Content {
		if block.Kind != tool.ContentArtifact {
			continue
		}
		piece, err := c.ReadArtifact(ctx, tool.ArtifactQuery{Handle: block.Artifact.Handle, Limit: 64})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(piece.Data), "of", piece.Size, "bytes")
	}
	// Output: 64 of 10000 bytes
}

// Replace the processes of a plugin.
func ExampleAdmin_Restart() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	if _, err := c.Admin().Restart(context.Background(), "fixture", false); err != nil {
		log.Fatal(err)
	}
	fmt.Println("restarted")
	// Output: restarted
}

// Find out why a plugin does not accept calls.
func ExampleAdmin_Plugins() {
	defer serveTools()()
	c := dialTools()
	defer c.Close()
	ctx := context.Background()
	if err := c.Admin().Pause(ctx, "fixture"); err != nil {
		log.Fatal(err)
	}
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range plugins {
		if p.State != tool.PluginEnabled {
			fmt.Println(p.Name, "is", p.State)
		}
	}
	// Output: fixture is paused
}

// Reach a toolhost on another machine. A vault's client prints the token, and the client runs it
// again before the token expires.
func ExampleWithTLS() {
	c, err := client.Dial("toolhost.example:7443",
		client.WithTLS(client.TLS{ServerName: "toolhost.internal"}),
		client.WithTokenCommand("vault read -field=token kv/toolhost"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println("calls go to", c.Addr())
	// Output: calls go to toolhost.example:7443
}

// Send tokens that the program obtains itself.
func ExampleWithTokenSource() {
	login := func(context.Context) (client.Token, error) {
		return client.Token{Value: "from-the-login-service", Expires: time.Now().Add(time.Hour)}, nil
	}
	c, err := client.Dial("toolhost.example:7443", client.WithTokenSource(login))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	token, _ := login(context.Background())
	fmt.Println("calls go to", c.Addr(), "with", token)
	// Output: calls go to toolhost.example:7443 with [token]
}
