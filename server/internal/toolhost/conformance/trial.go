package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

const (
	healthService  = "plugin"
	shutdownMethod = "/plugin.GRPCController/Shutdown"
	// unknownVersion is a version of the contract that does not exist.
	unknownVersion = 999999
)

// trial is one process of the plugin.
type trial struct {
	x      *examiner
	bare   *process.Bare
	conn   net.Conn
	cc     *grpc.ClientConn
	client pluginv1.ToolPluginServiceClient
	stream *stream        // nil until opened
	served sync.WaitGroup // the goroutine of drainStdio
}

// start starts the plugin in that environment.
func (x *examiner) start(ctx context.Context, environ func(dir string) []string) (*trial, error) {
	cfg := x.cfg.Process
	cfg.Instance = fmt.Sprintf("verify-%d", x.instances.Add(1))
	cfg.Logger = slog.New(x.output.handler())
	bare, err := process.StartBare(ctx, cfg, environ)
	if err != nil {
		if !isProgramsFault(err) {
			x.giveUp(err)
		}
		return nil, err
	}
	return &trial{x: x, bare: bare}, nil
}

// isProgramsFault reports whether an error means that the program cannot be executed, and not that
// the sandbox or a limit is not available.
func isProgramsFault(err error) bool {
	return errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOENT)
}

// offering returns an environment that offers versions of the contract to a plugin.
func offering(versions string) func(dir string) []string {
	return func(dir string) []string {
		return []string{
			pluginwire.CookieKey + "=" + pluginwire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=" + versions, "PLUGIN_UNIX_SOCKET_DIR=" + dir,
			"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000",
		}
	}
}

// launch starts the plugin and waits for its health. If a step fails, the trial has ended and
// launch returns the problems.
func (x *examiner) launch(ctx context.Context) (*trial, []problem) {
	t, err := x.start(ctx, offering(fmt.Sprintf("%d,%d", pluginwire.ProtocolVersion, unknownVersion)))
	if err != nil {
		return nil, []problem{problemf("start.handshake", "it cannot be started: %v", err)}
	}
	x.sandboxed(t.bare.Sandbox())
	ctx, cancel := context.WithTimeout(ctx, x.cfg.StartTimeout)
	defer cancel()
	found := t.greet(ctx)
	if len(found) > 0 {
		t.end()
		return nil, found
	}
	return t, nil
}

func (t *trial) greet(ctx context.Context) []problem {
	line, found := t.firstLine(ctx)
	if len(found) > 0 {
		return found
	}
	socket, found := judgeHandshake(line, t.bare.Dir(), []int{pluginwire.ProtocolVersion})
	if len(found) > 0 {
		if !t.exitsWithin(exitGrace) {
			return found
		}
		if found[0].check == "start.socket" { // the socket disappears with the process
			return []problem{problemf("start.listener", "it ended right after its handshake: %s", t.ending())}
		}
		found[0].text += "; it has ended: " + t.ending()
		return found
	}
	conn, err := t.bare.Dial(ctx, socket)
	if err != nil {
		words := err.Error()
		if t.exitsWithin(exitGrace) {
			words = "it ended right after its handshake: " + t.ending()
		}
		return []problem{problemf("start.listener", "%s", words)}
	}
	t.conn = conn
	if t.cc, err = dial(conn); err != nil {
		return []problem{problemf("start.listener", "%v", err)}
	}
	t.client = pluginv1.NewToolPluginServiceClient(t.cc)
	t.served.Go(t.drainStdio) // ends with the connection; end waits for it
	return t.checkHealth(ctx)
}

// exitGrace bounds the time between a lost connection and the exit of the process.
const exitGrace = 250 * time.Millisecond

// firstLine returns the line of the handshake.
func (t *trial) firstLine(ctx context.Context) (string, []problem) {
	line, whole, err := t.bare.FirstLine(ctx)
	switch {
	case err == nil && whole:
		return line, nil
	case err == nil:
		return "", []problem{problemf("start.handshake", "it printed %s, without a line's end, and closed standard output; %s", quote(line), t.whatBecame())}
	case !errors.Is(err, context.DeadlineExceeded):
		return "", []problem{problemf("start.handshake", "it closed its standard output without a handshake; %s", t.whatBecame())}
	}
	t.end()
	words := fmt.Sprintf("it printed no line within %v", t.x.cfg.StartTimeout)
	if line, _, err := t.bare.FirstLine(context.WithoutCancel(ctx)); err == nil && line != "" {
		words += fmt.Sprintf(", only %s without a line's end", quote(line))
	}
	return "", []problem{{"start.handshake", words}}
}

func dial(conn net.Conn) (*grpc.ClientConn, error) {
	used := make(chan net.Conn, 1)
	used <- conn
	return grpc.NewClient("passthrough:///plugin", append(pluginwire.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case conn := <-used:
				return conn, nil
			default:
				return nil, errors.New("the connection to the plugin is lost")
			}
		}))...)
}

func (t *trial) checkHealth(ctx context.Context) []problem {
	answer, err := grpc_health_v1.NewHealthClient(t.cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: healthService})
	if err == nil && answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
		return nil
	}
	switch broken := t.bare.Problem(); {
	case err == nil:
		return []problem{problemf("start.health", "it answers %v", answer.GetStatus())}
	case t.exitsWithin(exitGrace):
		return []problem{problemf("start.health", "it ended when toolhost connected: %s", t.ending())}
	case broken != nil:
		return []problem{problemf("start.tls", "%v", broken)}
	default:
		return []problem{problemf("start.health", "asking for its health: %s", words(err))}
	}
}

// shutdown asks the plugin to exit.
func (t *trial) shutdown(ctx context.Context) error {
	return t.cc.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{})
}

// alive reports whether the plugin answers.
func (t *trial) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, t.x.grace())
	defer cancel()
	return t.conn != nil && len(t.checkHealth(ctx)) == 0
}

// end ends the process, and waits until nothing of it is left.
func (t *trial) end() {
	if t.cc != nil {
		_ = t.cc.Close()
	}
	if t.conn != nil {
		_ = t.conn.Close()
	}
	t.bare.Kill()
	<-t.bare.Done()
	if t.stream != nil {
		<-t.stream.done
	}
	t.served.Wait()
}

// exitsBefore reports whether the process exits before ctx ends.
func (t *trial) exitsBefore(ctx context.Context) bool {
	select {
	case <-t.bare.Exited():
		return true
	case <-ctx.Done():
		return false
	}
}

// exitsWithin reports whether the process exits in time.
func (t *trial) exitsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.bare.Exited():
		return true
	case <-timer.C:
		return false
	}
}

// whatBecame returns a text that says whether a process that closed its connection has exited, and
// how.
func (t *trial) whatBecame() string {
	if t.exitsWithin(exitGrace) {
		return "it ended: " + t.ending()
	}
	return "it runs on"
}

// ending says how the process ended, and what it printed last. The process has exited or is about
// to exit.
func (t *trial) ending() string {
	<-t.bare.Done()
	exit := t.bare.Exit()
	return exitWords(exit)
}

func exitWords(exit tool.Exit) string {
	s := exit.String()
	if lines := crashoutput.Excerpt(exit.LastStderr, 3); len(lines) > 0 {
		s += "; it said " + quote(strings.Join(lines, "\n"))
	}
	return s
}
