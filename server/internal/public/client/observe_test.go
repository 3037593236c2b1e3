package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// shutDown serves a host and returns a function that shuts the server down gracefully.
func shutDown(t *testing.T, host hostserver.Host) (c *client.Client, shutdown func(context.Context) error) {
	t.Helper()
	a := socket(t)
	listener, err := a.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server := hostserver.NewServer(hostserver.Config{Host: host})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return dial(t, a), server.Shutdown
}

// A shutdown does not wait for watches, and ends them without an error.
func TestAShutdownEndsWatches(t *testing.T) {
	c, shutdown := shutDown(t, newHost(t))
	if _, err := c.Call(bounded(t), tool.Call{Tool: "talk", Arguments: []byte(`{"text":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	down := make(chan error, 1)
	seen := 0
	for _, err := range c.Admin().WatchEvents(bounded(t), tool.EventQuery{Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen != 2 { // launching, ready
			continue
		}
		for line, err := range c.Admin().TailLogs(bounded(t), tool.LogQuery{Follow: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Record.Message != "x" {
				t.Errorf("got %+v", line)
			}
			go func() { down <- shutdown(bounded(t)) }()
		}
	}
	if err := <-down; err != nil {
		t.Errorf("the shutdown had to cut: %v", err)
	}
}

func TestALostConnectionEndsWatches(t *testing.T) {
	a, host := socket(t), newHost(t)
	cut := serve(t, a, host)
	c := dial(t, a)
	if _, err := c.Call(bounded(t), echo("x")); err != nil {
		t.Fatal(err)
	}
	// A stream that is cut ends with an error; a stream that the server drains may end without one.
	var last error
	for _, err := range c.Admin().WatchEvents(bounded(t), tool.EventQuery{Follow: true}) {
		if last = err; err == nil {
			cut()
		}
	}
	if last != nil && (!errors.Is(last, client.ErrNoServer) || tool.KindOf(last) != tool.KindUnavailable) {
		t.Errorf("got %v", last)
	}
	for _, err := range c.Admin().TailLogs(bounded(t), tool.LogQuery{}) {
		if !errors.Is(err, client.ErrNoServer) {
			t.Errorf("without a toolhost: %v", err)
		}
		return
	}
	t.Error("without a toolhost there is no error")
}

func TestLeavingTheLoopEndsTheWatch(t *testing.T) {
	a := socket(t)
	serve(t, a, newHost(t))
	c := dial(t, a)
	if _, err := c.Call(bounded(t), echo("x")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for event, err := range c.Admin().WatchEvents(bounded(t), tool.EventQuery{Follow: true}) {
			if err != nil || event.Seq != 1 {
				t.Errorf("got %+v, %v", event, err)
			}
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Admin().TailLogs(ctx, tool.LogQuery{Follow: true}) {
		if tool.KindOf(err) != tool.KindCancelled {
			t.Errorf("got %v", err)
		}
	}
}
