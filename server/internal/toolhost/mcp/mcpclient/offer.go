package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// Bounds of a server's list of tools.
const (
	maxPages     = 200
	maxTools     = 5_000
	maxListBytes = 16 << 20 // of the definitions together
)

// offer is what a server says about its tools, compared with what the operator trusted.
//
// What a server declares about a tool is an instruction for a model. The operator has read and
// trusted one such text, the pin. A server can declare another one at its next start or in the
// middle of a session. So each list is compared with the pins, and a tool that differs cannot be
// called. Between the server's notice of a change and the next list, no call starts: otherwise a
// server could use that moment.
//
// After a notice, a goroutine lists the tools, at most once in refreshPause. It ends when the list
// is current, or with the session.
type offer struct {
	conn *Conn

	mu       sync.Mutex
	pins     []tool.Spec       // what Config.Pinned returned last
	pinned   map[string][]byte // their definitions, by name; nil: nothing is pinned
	list     []tool.Spec
	warnings []string // what of the list is left out
	tools    map[string]offered
	current  chan struct{} // closed when the list is current
	notices  uint64        // changes of which the server gave notice
	running  bool          // a goroutine lists the tools
	last     time.Time
	problem  error // why the list could not be read
}

// offered is a tool of the server.
type offered struct {
	name       string // the server's own
	definition []byte
	effects    bool // two executions of the tool may differ from one
}

func (o *offer) init(c *Conn) {
	o.conn, o.current = c, make(chan struct{})
	close(o.current)
}

// specs returns the tools of the last list, and what of it is left out.
func (o *offer) specs() (list []tool.Spec, warnings []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.list, o.warnings
}

// settledLocked reports whether the list is current.
func (o *offer) settledLocked() bool {
	select {
	case <-o.current:
		return true
	default:
		return false
	}
}

// settle waits until the list is current.
func (o *offer) settle(ctx context.Context) error {
	o.mu.Lock()
	current := o.current
	o.mu.Unlock()
	select {
	case <-current:
		return nil
	case <-o.conn.done:
		return fmt.Errorf("%w: %w", pluginconn.ErrLost, ErrEnded)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// find returns a tool by its name for callers, or why the tool cannot be called.
func (o *offer) find(name string) (offered, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.problem != nil {
		return offered{}, tool.Errorf(tool.KindUnavailable, "the MCP server changed its tools, and does not say how: %w", o.problem)
	}
	o.repinLocked()
	found, ok := o.tools[name]
	switch {
	case !ok:
		return offered{}, tool.Errorf(tool.KindUnavailable, "the MCP server does not offer the tool %q any more", name)
	case o.differsLocked(name, found):
		return offered{}, tool.Errorf(tool.KindUnavailable, "the MCP server changed the definition of the tool %q since an operator trusted it; "+
			"`toolhost trust --diff %[2]s` shows the change, and `toolhost trust %[2]s` accepts it", name, o.conn.cfg.Plugin)
	}
	return found, nil
}

// changed records that the server announced another list, and lets a goroutine read it.
func (o *offer) changed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notices++
	if o.settledLocked() {
		o.current = make(chan struct{})
	}
	if !o.running {
		o.running = true
		go o.follow() // ends when the list is current, or with the session
	}
}

// follow lists the tools until the server announces no further change.
func (o *offer) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with follow
		select {
		case <-o.conn.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	select {
	case <-o.conn.opened:
	case <-o.conn.done:
		return
	}
	for {
		o.mu.Lock()
		seen, wait := o.notices, time.Until(o.last.Add(refreshPause))
		o.mu.Unlock()
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-o.conn.done:
			}
		}
		err := o.refresh(ctx)
		o.mu.Lock()
		if o.problem = err; ctx.Err() != nil || o.notices == seen {
			o.running = false
			close(o.current)
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
	}
}

// refresh lists the tools.
func (o *offer) refresh(ctx context.Context) error {
	list, names, warnings, err := o.conn.listTools(ctx)
	if err != nil {
		return err
	}
	tools := make(map[string]offered, len(list))
	for i := range list {
		name := list[i].Name
		if _, twice := tools[name]; !twice {
			tools[name] = offered{names[i], definition(&list[i]), list[i].HasSideEffects()}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.repinLocked()
	o.noteLocked(tools)
	if !slices.Equal(o.warnings, warnings) {
		o.conn.logAll(warnings)
	}
	o.list, o.warnings, o.tools, o.last, o.problem = list, warnings, tools, time.Now(), nil
	return nil
}
