// Package remote is an instance of a plugin without a process: a session with a server at a URL.
//
// It owns the end of the instance and the lines that the session logs. It does not own the session,
// the address of the server, or the decision when an instance begins and ends.
package remote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// Session is a session with a server, such as a *mcpclient.Conn.
type Session interface {
	pluginconn.Conn
	// Close ends the session. It does not wait, and may be called more than once.
	Close() error
	// Ended returns why the session has ended; nil if this side ended it, or if there is no more to
	// say than that it was lost. It may be called once Done is closed.
	Ended() error
	// Protocol names the version of the protocol that the session uses.
	Protocol() string
}

// Config describes an instance.
type Config struct {
	Session Session // the instance closes it
	URL     string  // of the server, as operators see it
	Log     *Log    // of the session; the instance closes it
	// Harmless reports whether the session ended for a reason that is no fault of the server, so that
	// another session can begin at once. err is what Session.Ended returned.
	Harmless func(err error) bool
	Release  func() // frees what belongs to the session; called once at its end
}

// Instance is a session that takes calls. All methods are safe for concurrent use.
type Instance struct {
	cfg  Config
	done chan struct{}

	mu     sync.Mutex
	closed bool // this side ended the session
}

// New returns an instance. Its goroutine ends with the session, which Stop ends.
func New(cfg Config) *Instance {
	in := &Instance{cfg: cfg, done: make(chan struct{})}
	go in.await() // ends with the session
	return in
}

// await releases everything when the session has ended.
func (in *Instance) await() {
	defer close(in.done)
	<-in.cfg.Session.Done()
	_ = in.cfg.Session.Close() // it has ended already
	in.cfg.Release()
	in.cfg.Log.Close()
}

// Conn returns the session as the host's connection.
func (in *Instance) Conn() pluginconn.Conn { return in.cfg.Session }

// PID returns 0: there is no process.
func (*Instance) PID() int { return 0 }

// Alive reports whether the session takes calls.
func (in *Instance) Alive() bool {
	select {
	case <-in.cfg.Session.Done():
		return false
	default:
		return true
	}
}

// Done is closed when the session has ended and everything is released.
func (in *Instance) Done() <-chan struct{} { return in.done }

// Exit returns how the session ended. It may be called once Done is closed.
func (in *Instance) Exit() tool.Exit {
	exit := tool.Exit{Code: tool.NoProcess, Reason: "the session was lost", LastStderr: in.cfg.Log.Last()}
	if err := in.cfg.Session.Ended(); err != nil {
		exit.Reason = err.Error()
	} else if in.isClosed() {
		exit.Reason = "toolhost ended the session"
	}
	return exit
}

// Withdrawn returns why the session ended, if the server is not at fault.
func (in *Instance) Withdrawn() string {
	if err := in.cfg.Session.Ended(); err != nil && in.cfg.Harmless(err) {
		return err.Error()
	}
	return ""
}

// Limits returns nil: toolhost limits processes.
func (*Instance) Limits() []tool.EffectiveLimit { return nil }

// Sandbox says that there is no process to confine, and names the server.
func (in *Instance) Sandbox() tool.Sandbox {
	return tool.Sandbox{Mode: tool.SandboxNone, Workspace: tool.AccessNone, Layers: []tool.SandboxLayer{{
		Name: "network", Effective: true, Mechanism: "addresses",
		Note: fmt.Sprintf("it has no process; toolhost connects to %s, MCP %s", in.cfg.URL, in.cfg.Session.Protocol()),
	}}}
}

// RSS returns 0: there is no process.
func (*Instance) RSS() uint64 { return 0 }

// Memory returns 0: there is no process.
func (*Instance) Memory() uint64 { return 0 }

// CPU returns 0: there is no process.
func (*Instance) CPU() time.Duration { return 0 }

// Workspace returns "". The server does not see the files of this machine.
func (*Instance) Workspace() string { return "" }

// Stop ends the session and waits until it has ended. Ending takes no longer than the session gives
// the server to hear of it.
func (in *Instance) Stop(context.Context) error {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	_ = in.cfg.Session.Close() // its end is what counts
	<-in.done
	return nil
}

func (in *Instance) isClosed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}
