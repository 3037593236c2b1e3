// Package pluginclient makes the host's end of the plugin contract a pluginconn.Conn. It only
// translates: package pluginwire speaks the contract, and package host decides.
package pluginclient

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// New returns a connection to an instance over c. The caller still owns c and closes it. New does
// not allocate, so it may be called for every call.
func New(c *pluginwire.Conn) pluginconn.Conn { return conn{c} }

// conn and call contain one pointer each, because an interface takes such a struct without an
// allocation.
type conn struct{ wire *pluginwire.Conn }

func (c conn) Describe(ctx context.Context, req pluginconn.DescribeRequest) (tool.Description, error) {
	return c.wire.Describe(ctx, pluginwire.DescribeRequest(req))
}

func (c conn) Start(ctx context.Context, start pluginconn.Start) (pluginconn.Call, error) {
	return opened(c.wire.Start(ctx, pluginwire.Start(start)))
}

func (c conn) Done() <-chan struct{} { return c.wire.Done() }

type call struct{ *pluginwire.Call }

func opened(wire *pluginwire.Call, err error) (pluginconn.Call, error) {
	if err != nil {
		return nil, translated(err)
	}
	return call{wire}, nil
}

func (c call) Next(ctx context.Context) (tool.Event, error) {
	ev, err := c.Call.Next(ctx)
	return ev, translated(err)
}

// translated returns err as an error that the host recognizes.
func translated(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pluginwire.ErrConnLost):
		return lostError{err}
	default:
		return err
	}
}

// lostError is an error of a lost connection. It keeps the message and the details of the wire.
type lostError struct{ error }

func (e lostError) Unwrap() []error { return []error{pluginconn.ErrLost, e.error} }
