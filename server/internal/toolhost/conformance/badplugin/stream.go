package main

import (
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// callStream is the stream of all calls.
type callStream struct {
	plugin  *badplugin
	stream  pluginv1.ToolPluginService_ConnectServer
	sending sync.Mutex // held while a frame is sent

	mu      sync.Mutex
	changed *sync.Cond // a frame has changed a call
	queue   []uint32   // the calls in the order of arrival, for a plugin that serves one at a time
	calls   map[uint32]*call
}

// call is what toolhost has sent for a call.
type call struct {
	number   uint32
	start    *pluginv1.StartCall
	text     []byte
	complete bool
	stopped  toolv1.ErrorKind
	credit   int
}

func (p *badplugin) Connect(stream pluginv1.ToolPluginService_ConnectServer) error {
	if p.commits("no_stream") {
		return status.Error(codes.Unimplemented, "no stream")
	}
	s := &callStream{plugin: p, stream: stream, calls: map[uint32]*call{}}
	s.changed = sync.NewCond(&s.mu)
	for {
		frame, err := stream.Recv()
		if err != nil {
			if !p.commits("stays") && !p.commits("clings") {
				p.exit <- 0
			}
			return err
		}
		if err := s.receive(frame); err != nil {
			return err
		}
	}
}

// receive applies a frame of toolhost. It starts the goroutine of a new call, which ends with the
// call.
func (s *callStream) receive(frame *pluginv1.ConnectRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	if start := frame.GetStart(); start != nil {
		c := &call{number: frame.GetCall(), start: start, text: start.GetArguments(), complete: start.GetComplete(), credit: int(start.GetCredit())}
		s.calls[frame.GetCall()] = c
		if ships(start.GetTool()) {
			s.queue = append(s.queue, frame.GetCall())
		}
		if limit := start.GetTimeout(); limit != nil {
			time.AfterFunc(limit.AsDuration(), func() { s.stop(c, toolv1.ErrorKind_ERROR_KIND_TIMEOUT) })
		}
		go s.run(c)
		return nil
	}
	c := s.calls[frame.GetCall()]
	switch f := frame.GetFrame().(type) {
	case nil:
		if s.plugin.commits("strict") {
			return status.Error(codes.InvalidArgument, "what is this?")
		}
	case *pluginv1.ConnectRequest_Append:
		switch {
		case c == nil && s.plugin.commits("picky"):
			return status.Error(codes.InvalidArgument, "which call?")
		case c != nil && s.plugin.commits("chops"): // decodes each piece by itself
			c.text = append(c.text, strings.ToValidUTF8(string(f.Append.GetText()), `"`)...)
		case c != nil:
			c.text = append(c.text, f.Append.GetText()...)
		}
	case *pluginv1.ConnectRequest_Complete:
		if c != nil {
			if len(f.Complete.GetArguments()) > 0 && !s.plugin.commits("sticks") {
				c.text = f.Complete.GetArguments()
			}
			c.complete = true
		}
	case *pluginv1.ConnectRequest_Cancel:
		if c != nil && (!s.plugin.commits("deaf_early") || c.complete) {
			c.stopped = toolv1.ErrorKind_ERROR_KIND_CANCELLED
		}
	case *pluginv1.ConnectRequest_Credit:
		if c != nil {
			c.credit += int(f.Credit.GetBytes())
		}
	}
	return nil
}

func (s *callStream) stop(c *call, kind toolv1.ErrorKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	c.stopped = kind
}
