package sdk

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolhost/toolhost/internal/text/partialjson"
)

// previewer passes the arguments to an object as they arrive. It uses one goroutine, for which stop
// waits. While the object handles one value, newer text gathers, and the object gets only the
// latest value next.
type previewer struct {
	// show gets the value so far, and whether it is whole. false ends the previews.
	show   func(ctx context.Context, soFar json.RawMessage, whole bool) bool
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine ends

	mu     sync.Mutex
	parser partialjson.Parser
	broken bool          // the text is not JSON, which ends the previews
	news   chan struct{} // has a token when there is new text
}

func startPreviews(ctx context.Context, show func(context.Context, json.RawMessage, bool) bool) *previewer {
	ctx, cancel := context.WithCancel(ctx)
	p := &previewer{show: show, cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	go p.run(ctx) // ends with stop, which waits
	return p
}

// add adds the next piece of text. It does not wait for the object.
func (p *previewer) add(piece []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.parser.Write(piece); err != nil {
		p.broken = true
		return
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// stop ends the previews, and waits for the object to return.
func (p *previewer) stop() {
	p.cancel()
	<-p.done
}

func (p *previewer) run(ctx context.Context) {
	defer close(p.done)
	var shown int
	var ended bool
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
		}
		if ctx.Err() != nil {
			return
		}
		if value, whole := p.latest(); len(value) > shown || whole && !ended {
			shown, ended = len(value), whole
			if !p.show(ctx, value, whole) {
				return
			}
		}
	}
}

// latest returns the value so far, which only grows, and whether it is whole.
func (p *previewer) latest() (value json.RawMessage, whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return nil, false
	}
	return p.parser.Value(), p.parser.Whole()
}

type wholeKey struct{}

// ArgumentsWhole reports whether the arguments that Previewer.Partial got are whole: the last
// bracket of the object is closed. A tool can then show what the call would change, which takes too
// long for every piece of the arguments. The arguments have no defaults and are not validated even
// then, and the call may still not be executed. ctx is the context of Partial; with any other,
// ArgumentsWhole returns false.
func ArgumentsWhole(ctx context.Context) bool {
	whole, _ := ctx.Value(wholeKey{}).(bool)
	return whole
}
