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

	goplugin "github.com/hashicorp/go-plugin"
)

// flags are the faults before and during the handshake, in the order in which they happen.
type flags struct {
	ignoreTerm     bool
	stderr         string
	flood          int
	stdout         string
	ask            string
	unfinished     int
	trace          string
	spawn          string
	stop           bool
	death          death
	when           string
	first          string
	hang           bool
	listen         string
	impostor       bool
	tls            string
	certificate    string
	dribble        bool
	health         string
	ignoreShutdown bool

	role   string
	parent int
}

// flagSet returns the flags, and the flag set that parses them.
func flagSet() (*flags, *flag.FlagSet) {
	f := &flags{}
	set := flag.NewFlagSet("fault", flag.ContinueOnError)
	set.BoolVar(&f.ignoreTerm, "ignore-term", false, "ignore SIGTERM")
	set.StringVar(&f.stderr, "stderr", "", "print this `line` on standard error")
	set.IntVar(&f.flood, "flood", 0, "print this many `bytes` of lines on standard error")
	set.StringVar(&f.stdout, "stdout", "", "print this `line` on standard output before the handshake")
	set.StringVar(&f.ask, "ask", "", "print these `words` on standard output before the handshake, without a line's end")
	set.IntVar(&f.unfinished, "unfinished", 0, "print this many `bytes` on standard output before the handshake, without a line's end")
	set.StringVar(&f.trace, "trace", "", "write what Go's runtime says of a crash into this `file` too")
	set.StringVar(&f.spawn, "spawn", "", "start a process that keeps the pipes, in the same `group`, in a new session, or bare: that and without environment")
	set.BoolVar(&f.stop, "stop", false, "stop with SIGSTOP")
	set.IntVar(&f.death.code, "exit", -1, "exit with this `code`, at the moment that -when names")
	set.StringVar(&f.death.panic, "panic", "", "panic with these `words`, at the moment that -when names")
	set.StringVar(&f.when, "when", "start", "die at this `moment`: start, half of the handshake, line (right after it), connected, signal (SIGUSR1) or end (after the shutdown)")
	set.StringVar(&f.first, "first", "", "print this `line` in place of the handshake, {dir} being the socket's folder, and serve nothing")
	set.BoolVar(&f.hang, "hang", false, "say and do nothing")
	set.StringVar(&f.listen, "listen", "", "say that you listen in this `folder`, {dir} being the right one, but answer nobody")
	set.BoolVar(&f.impostor, "impostor", false, "let a process that is not yours listen")
	set.StringVar(&f.tls, "tls", "", "serve TLS, `announced` in the handshake or silent")
	set.StringVar(&f.certificate, "certificate", "", "name a certificate in the handshake that is `unsolicited`, padded or bad, and serve without TLS")
	set.BoolVar(&f.dribble, "dribble", false, "print the handshake a byte at a time")
	set.StringVar(&f.health, "health", "", "never be ready: leave the question `silent`, or give a bad answer")
	set.BoolVar(&f.ignoreShutdown, "ignore-shutdown", false, "live on after the shutdown")
	set.StringVar(&f.role, "role", "", "used between processes of this program")
	set.IntVar(&f.parent, "parent", 0, "used between processes of this program")
	return f, set
}

// Flags returns the names of Main's flags that are faults.
func Flags() []string {
	var names []string
	_, set := flagSet()
	set.VisitAll(func(f *flag.Flag) {
		if f.Name != "role" && f.Name != "parent" {
			names = append(names, f.Name)
		}
	})
	return names
}

// Main runs the plugin and returns its exit code. args are its arguments without the program's
// name.
func Main(args []string) int {
	f, set := flagSet()
	if err := set.Parse(args); err != nil {
		return 2
	}
	self := os.Args[:len(os.Args)-len(args)]
	switch f.role {
	case "":
	case "starter":
		return launch(self, "-role=listener", "-parent="+strconv.Itoa(os.Getpid()))
	case "listener":
		for os.Getppid() == f.parent { // until the starter has ended, this process descends from the plugin
			time.Sleep(time.Millisecond)
		}
		fmt.Println(listen("{dir}", nil))
		sleep()
	}
	if err := f.prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return f.play(self)
}

// prepare runs the faults before the handshake.
func (f *flags) prepare() error {
	if f.ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	if f.stderr != "" {
		fmt.Fprintln(os.Stderr, f.stderr)
	}
	floodWith(os.Stderr, f.flood)
	if f.stdout != "" {
		fmt.Println(f.stdout)
	}
	_, _ = os.Stdout.WriteString(f.ask + strings.Repeat("x", f.unfinished))
	if err := copyCrash(f.trace); err != nil {
		return err
	}
	if f.spawn != "" {
		pid, err := spawn(f.spawn, os.Stdout, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "spawned", pid)
	}
	if f.stop {
		stopSelf()
	}
	return nil
}

func (f *flags) play(self []string) int {
	switch {
	case f.death.planned() && f.when != "end" && f.when != "signal":
		f.dieDuringLaunch()
	case f.first != "":
		fmt.Println(strings.ReplaceAll(f.first, "{dir}", os.Getenv(goplugin.EnvUnixSocketDir)))
		sleep()
	case f.hang:
		sleep()
	case f.listen != "":
		fmt.Println(listen(f.listen, nil))
		sleep()
	case f.impostor:
		if code := launch(self, "-role=starter"); code != 0 {
			return code
		}
		sleep()
	}
	if f.when == "signal" {
		f.dieBySignal()
	}
	if err := f.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if f.when == "end" {
		f.death.die()
	}
	return 0
}

// listen makes a socket and returns the handshake for it. If connected is not nil, it is called
// when a connection arrives.
func listen(dir string, connected func()) string {
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
			if connected != nil {
				connected()
			}
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	return "1|1|unix|" + path + "|grpc"
}

func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// sleep blocks forever, until the process is killed.
func sleep() {
	for {
		time.Sleep(time.Hour)
	}
}
