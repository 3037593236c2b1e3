package sdk

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolhost/toolhost/internal/partialjson"
)

// previewer shows an object its arguments as they arrive, in one goroutine that stop waits for. While the object looks
// at one text, newer ones gather, and only the latest is shown next.
type previewer struct {
	show   func(ctx context.Context, soFar json.RawMessage) bool // false: nothing more is shown
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	parser partialjson.Parser
	broken bool          // the text is no JSON: nothing more is shown
	news   chan struct{} // holds a token when there is text that was not shown
}

func startPreviews(ctx context.Context, show func(context.Context, json.RawMessage) bool) *previewer {
	ctx, cancel := context.WithCancel(ctx)
	p := &previewer{show: show, cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	go p.run(ctx)
	return p
}

// add takes the next piece of text. It does not wait for the object.
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

// stop ends the previews and waits for the one that is being looked at.
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

// latest returns the value so far. It only ever grows.
func (p *previewer) latest() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return nil
	}
	return p.parser.Value()
}
