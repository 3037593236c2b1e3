package supervisor

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// Process is a running plugin process that is ready for calls, such as a *process.Process. All
// methods are safe for concurrent use.
type Process interface {
	// Conn returns the connection over which the process takes calls.
	Conn() pluginconn.Conn
	PID() int
	// Alive reports whether the process runs. It notices an exit earlier than Done does.
	Alive() bool
	// Done is closed when the process is gone and all of its resources are released.
	Done() <-chan struct{}
	// Exit returns how the process ended. It may be called once Done is closed.
	Exit() tool.Exit
	// Withdrawn returns the reason why toolhost ended the process on its own decision, which is not
	// a crash. It is empty if toolhost did not. It may be called once Done is closed.
	Withdrawn() string
	// Limits returns the limits of the process and how they are enforced.
	Limits() []tool.EffectiveLimit
	// Sandbox returns what the process may access, and which mechanisms enforce it.
	Sandbox() tool.Sandbox
	// RSS returns the resident memory in bytes; 0: unknown.
	RSS() uint64
	// Memory returns the resident memory of the process and all its descendants in bytes; 0: unknown.
	// It costs some reads of files for each of them.
	Memory() uint64
	// Workspace returns the absolute path of the folder in which its tools work; empty: that of the
	// host.
	Workspace() string
	// CPU returns the processor time that the process has used; 0: unknown.
	CPU() time.Duration
	// Stop ends the process, by force if necessary, and waits until it is gone. Each of its steps
	// has a timeout. When ctx ends, Stop uses force at once.
	Stop(ctx context.Context) error
}

// LaunchFunc starts an instance of a plugin and returns when the instance takes calls. When ctx
// ends, it must return soon; when it fails, it must leave nothing behind. It may call ReportLaunch.
type LaunchFunc func(ctx context.Context, p *catalog.Plugin, instance string) (Process, error)

// Owner says whose calls an instance serves.
type Owner struct {
	// Tenant is set. All calls of the instance belong to it.
	Tenant string
	// Principal is the key of the principal whose calls the instance serves; empty: any principal of
	// the tenant.
	Principal string
	// Session is the session of the principal whose calls the instance serves, if OneSession is set.
	Session    string
	OneSession bool
}

// RefuseLaunch returns the error with which a LaunchFunc refuses an owner, such as one without
// credentials. The plugin is not at fault: there is no backoff, and instances of other owners
// start. The calls that wait for the instance end with err.
func RefuseLaunch(err *tool.Error) error { return &refusedLaunch{err} }

// refusedLaunch is the error of a launch for which there is no place. The plugin is not at fault.
type refusedLaunch struct{ err *tool.Error }

func (r *refusedLaunch) Error() string { return r.err.Message }

// launchKey is the key of the *Instance in the context of a LaunchFunc.
type launchKey struct{}
