package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

const (
	// beat is how often a stream shows that it lives, and asks whether its session still does.
	beat = 15 * time.Second
	// maxStreams and maxOfSession bound the streams of all browsers and of one session. A browser that
	// gets none loads its pages again by hand. Without TLS, browsers have six connections to a host: a
	// session must not use all of them for streams, because then no page loads any more.
	maxStreams, maxOfSession = 1000, 4
)

// streams counts the streams that are open.
type streams struct {
	mu   sync.Mutex
	all  int
	each map[*session]int
}

func newStreams() *streams { return &streams{each: map[*session]int{}} }

// open reports whether a session may have one more stream. The caller then calls close.
func (s *streams) open(of *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxStreams || s.each[of] >= maxOfSession {
		return false
	}
	s.all++
	s.each[of]++
	return true
}

func (s *streams) close(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.each[of]--; s.each[of] == 0 {
		delete(s.each, of)
	}
}

// watch tells a browser which runs and calls have other decisions than before, as server-sent
// events. An event has the name of what changed, and no text of others: the browser loads its page
// again. A page has the position of what it shows, and the id of an event is the next one. The
// script comes with it: what happened before is not sent.
func (s *Server) watch(v *visit) error {
	if !s.streams.open(v.session) {
		return tool.Errorf(tool.KindRateLimited, "too many pages follow what waits; load this one again by hand")
	}
	defer s.streams.close(v.session)
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	position, changes := v.r.FormValue("position"), make(chan client.InboxChange)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { // ends with ctx
		defer close(changes)
		err := s.follow(ctx, position, changes)
		if tool.KindOf(err) == tool.KindInvalidArgument { // the position is of another agentd, or of other rights
			_ = s.follow(ctx, "", changes)
		}
	})
	v.w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(v.w)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	known := position != ""
	for {
		var line string
		select {
		case change, ok := <-changes:
			if !ok { // the browser comes again, with the last position or without
				return nil
			}
			line = eventOf(change, known)
			known = known || change.Complete
		case <-tick.C:
			if !s.config.Sessions.lives(v.cookie) {
				return nil
			}
			line = ":\n\n"
		}
		_ = out.SetWriteDeadline(time.Now().Add(beat))
		if _, err := fmt.Fprint(v.w, line); err != nil || out.Flush() != nil {
			return nil // the browser is gone
		}
	}
}

// follow sends what changes after a position, until ctx ends or the server ends the stream.
func (s *Server) follow(ctx context.Context, position string, changes chan<- client.InboxChange) error {
	for change, err := range s.config.Agent.WatchInbox(ctx, client.InboxWatch{Position: position}) {
		if err != nil {
			return err
		}
		select {
		case changes <- change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// eventOf returns a change as an event; known says that the browser knows the state before it.
func eventOf(change client.InboxChange, known bool) string {
	name, err := json.Marshal(shown(change.Source)) // escapes what could end the line
	if err != nil {
		return ":\n\n"
	}
	event := ""
	if change.Position != "" {
		event = "id: " + change.Position + "\n"
	}
	if !known || change.Source == "" && !change.Restart {
		if event == "" {
			return ":\n\n"
		}
		return event + "event: position\ndata: \n\n"
	}
	return event + "data: " + string(name) + "\n\n"
}
