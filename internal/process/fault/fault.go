// Package fault is a plugin that misbehaves on request, for tests and chaos runs: before its handshake as its flags say,
// later as the arguments of a call say. Without flags it is a well-behaved plugin with one tool, "fault".
//
// A test can let its own binary play the plugin by calling Main, or build the executable below in folder faultplugin.
// The package is a fixture: nothing that ships imports it.
package fault

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/pluginwire"
)

// flags are the faults at the start, in the order in which they happen.
type flags struct {
	ignoreTerm     bool
	stderr         string
	flood          int
	spawn          string
	stop           bool
	exit           int
	first          string
	hang           bool
	listen         string
	impostor       bool
	ignoreShutdown bool
}

// Main plays the plugin and returns its exit code. args are its arguments without the program's name.
func Main(args []string) int {
	var f flags
	set := flag.NewFlagSet("fault", flag.ContinueOnError)
	set.BoolVar(&f.ignoreTerm, "ignore-term", false, "ignore SIGTERM")
	set.StringVar(&f.stderr, "stderr", "", "print this `line` on standard error")
	set.IntVar(&f.flood, "flood", 0, "print this many `bytes` of lines on standard error")
	set.StringVar(&f.spawn, "spawn", "", "start a process that keeps the pipes, in the same `group`, in a new session, or bare: that and without environment")
	set.BoolVar(&f.stop, "stop", false, "stop with SIGSTOP")
	set.IntVar(&f.exit, "exit", -1, "exit with this `code`")
	set.StringVar(&f.first, "first", "", "print this `line` in place of the handshake, {dir} being the socket's folder, and serve nothing")
	set.BoolVar(&f.hang, "hang", false, "say and do nothing")
	set.StringVar(&f.listen, "listen", "", "say that you listen in this `folder`, {dir} being the right one, but answer nobody")
	set.BoolVar(&f.impostor, "impostor", false, "let a process that is not yours listen")
	set.BoolVar(&f.ignoreShutdown, "ignore-shutdown", false, "live on after the shutdown")
	role := set.String("role", "", "used between processes of this program")
	parent := set.Int("parent", 0, "used between processes of this program")
	if err := set.Parse(args); err != nil {
		return 2
	}
	self := os.Args[:len(os.Args)-len(args)]
	switch *role {
	case "":
	case "starter":
		return launch(self, "-role=listener", "-parent="+strconv.Itoa(os.Getpid()))
	case "listener":
		for os.Getppid() == *parent { // until the starter is gone, this still descends from the plugin
			time.Sleep(time.Millisecond)
		}
		fmt.Println(listen("{dir}"))
		sleep()
	}
	return f.play(self)
}

func (f *flags) play(self []string) int {
	if f.ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	if f.stderr != "" {
		fmt.Fprintln(os.Stderr, f.stderr)
	}
	floodWith(os.Stderr, f.flood)
	if f.spawn != "" {
		pid, err := spawn(f.spawn, os.Stdout, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Fprintln(os.Stderr, "spawned", pid)
	}
	if f.stop {
		stopSelf()
	}
	switch {
	case f.exit >= 0:
		return f.exit
	case f.first != "":
		fmt.Println(strings.ReplaceAll(f.first, "{dir}", os.Getenv(goplugin.EnvUnixSocketDir)))
		sleep()
	case f.hang:
		sleep()
	case f.listen != "":
		fmt.Println(listen(f.listen))
		sleep()
	case f.impostor:
		if code := launch(self, "-role=starter"); code != 0 {
			return code
		}
		sleep()
	}
	f.serve()
	return 0
}

// serve returns after the shutdown.
func (f *flags) serve() {
	h := &handler{stdout: os.Stdout, stderr: os.Stderr} // go-plugin puts others in their place
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  pluginwire.Handshake(),
		VersionedPlugins: pluginwire.PluginPlugins(h, pluginwire.ServerConfig{}),
		Logger:           hclog.NewNullLogger(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(pluginwire.ServerOptions(), opts...)...)
		},
	})
	if f.ignoreShutdown {
		sleep()
	}
}

// listen makes a socket and returns the handshake for it.
func listen(dir string) string {
	dir = strings.ReplaceAll(dir, "{dir}", os.Getenv(goplugin.EnvUnixSocketDir))
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err.Error()
	}
	go func() { // for as long as the process lives
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	return "1|1|unix|" + path + "|grpc"
}

func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// sleep is for ever: whoever sleeps waits to be killed.
func sleep() {
	for {
		time.Sleep(time.Hour)
	}
}
