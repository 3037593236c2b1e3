package sdk

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolhost/toolhost/internal/partialjson"
)

// previewer passes the arguments to an object as they arrive. It uses one goroutine, for which stop
// waits. While the object handles one value, newer text gathers, and the object gets only the
// latest value next.
type previewer struct {
	show   func(ctx context.Context, soFar json.RawMessage) bool // false ends the previews
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine ends

	mu     sync.Mutex
	parser partialjson.Parser
	broken bool          // the text is not JSON, which ends the previews
	news   chan struct{} // has a token when there is new text
}

func startPreviews(ctx context.Context, show func(context.Context, json.RawMessage) bool) *previewer {
	ctx, cancel := context.WithCancel(ctx)
	p := &previewer{show: show, cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	go p.run(ctx)
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
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
		}
		if ctx.Err() != nil {
			return
		}
		if value := p.latest(); len(value) > shown {
			shown = len(value)
			if !p.show(ctx, value) {
				return
			}
		}
	}
}

// latest returns the value so far, which only grows.
func (p *previewer) latest() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return nil
	}
	return p.parser.Value()
}
