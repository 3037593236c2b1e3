package pluginwire

import (
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// argumentText is a call's argument text as it comes in.
type argumentText struct {
	limit int
	more  chan struct{} // holds one token for a reader; nil if the text was complete from the start

	mu       sync.Mutex
	text     []byte
	seen     int // of text, by the reader
	complete bool
	err      error
}

func (a *argumentText) init(text []byte, complete bool, limit int) {
	a.text, a.complete, a.limit = text, complete, limit
	if !complete {
		a.more = make(chan struct{}, 1)
	}
}

func (a *argumentText) append(text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return
	}
	if len(a.text)+len(text) > a.limit {
		a.err = tool.Errorf(tool.KindInvalidArgument, "the arguments are larger than the %d bytes that are allowed", a.limit)
		a.text = nil
	} else {
		a.text = append(a.text, text...)
	}
	a.notify()
}

// finish says that the text is complete. arguments, if not empty, replace it.
func (a *argumentText) finish(arguments []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return
	}
	if len(arguments) > 0 {
		a.text = arguments
	}
	a.complete = true
	a.notify()
}

// next returns the text that the reader has not seen, or all of it once it is complete. Growth never writes into what
// was returned.
func (a *argumentText) next() (text []byte, complete bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return a.text, a.complete, a.err
	}
	text = a.text[a.seen:len(a.text):len(a.text)]
	a.seen = len(a.text)
	return text, false, nil
}

func (a *argumentText) notify() {
	select {
	case a.more <- struct{}{}:
	default:
	}
}
