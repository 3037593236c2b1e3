package process_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

// deaths are the ways in which a process ends by itself.
var deaths = []struct {
	name   string
	flag   string
	call   arguments
	code   int
	stderr string
}{
	{"exit", "-exit=3", arguments{"do": "exit", "number": 3}, 3, ""},
	{"exit without a fault", "-exit=0", arguments{"do": "exit", "number": 0}, 0, ""},
	{"panic", "-panic=the hull is breached", arguments{"do": "crash", "text": "the hull is breached"}, 2, "panic: the hull is breached"},
}

// checkDeath compares the end of a process with the end that the test requested. toolhost did not
// cause it.
func checkDeath(t *testing.T, exit tool.Exit, code int, stderr string) {
	t.Helper()
	if exit.Code != code || exit.Signal != "" || exit.Reason != "" {
		t.Errorf("exit %+v, want code %d and no reason of toolhost's", exit, code)
	}
	if !strings.Contains(strings.Join(exit.LastStderr, "\n"), stderr) {
		t.Errorf("the last lines are %q, want %q in them", exit.LastStderr, stderr)
	}
}

// checkNext checks that the next process is not affected by the one before.
func checkNext(t *testing.T, cfg process.Config) {
	t.Helper()
	cfg.Args = []string{"fault"}
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "next"}); got != "next" {
		t.Errorf("the next process says %q", got)
	}
}

// If a plugin dies during its launch, the launch ends at once, with the plugin's own reason.
func TestDeathDuringTheLaunch(t *testing.T) {
	for _, death := range deaths {
		for moment, when := range map[string]string{
			"before the handshake":             "-when=start",
			"in the middle of the handshake":   "-when=half",
			"right after the handshake":        "-when=line",
			"when toolhost has just connected": "-when=connected",
		} {
			t.Run(death.name+" "+moment, func(t *testing.T) {
				cfg, _ := setup(t, death.flag, when)
				err := refused(t, cfg)
				checkDeath(t, exitOf(t, err), death.code, death.stderr)
				if !strings.Contains(err.Error(), "it ended before it could be used: exit code") || !strings.Contains(err.Error(), death.stderr) {
					t.Errorf("error %q", err)
				}
				if when == "-when=half" && !strings.Contains(err.Error(), `it printed "1|1|unix|", expected`) {
					t.Errorf("error %q does not say what was printed", err)
				}
				checkNext(t, cfg)
			})
		}
	}
}

// A call's error arrives first, and the exit soon after, without a request.
func TestDeathDuringACall(t *testing.T) {
	for _, death := range deaths {
		t.Run(death.name, func(t *testing.T) {
			cfg, _ := setup(t)
			p := launch(t, cfg)
			if _, err := outcome(t.Context(), start(t, p, death.call)); !errors.Is(err, pluginwire.ErrConnLost) {
				t.Errorf("the call ends with %v", err)
			}
			checkDeath(t, wait(t, p), death.code, death.stderr)
			checkNext(t, cfg)
		})
	}
}

func TestDeathBesideCalls(t *testing.T) {
	for _, death := range deaths {
		for _, moment := range []string{"before the first call", "after a call"} {
			t.Run(death.name+" "+moment, func(t *testing.T) {
				cfg, _ := setup(t, death.flag, "-when=signal")
				p := launch(t, cfg)
				if moment == "after a call" {
					do(t, p, arguments{"do": "echo", "text": "hello"})
				}
				if err := signal(p.PID(), syscall.SIGUSR1); err != nil {
					t.Fatal(err)
				}
				checkDeath(t, wait(t, p), death.code, death.stderr)
				checkNext(t, cfg)
			})
		}
	}
}

// A plugin may die during its shutdown.
func TestDeathAtTheEnd(t *testing.T) {
	for _, death := range deaths {
		t.Run(death.name, func(t *testing.T) {
			cfg, _ := setup(t, death.flag, "-when=end")
			p := launch(t, cfg)
			if err := p.Stop(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			exit := p.Exit()
			if exit.Reason != "toolhost stopped it" {
				t.Errorf("exit %+v", exit)
			}
			exit.Reason = ""
			checkDeath(t, exit, death.code, death.stderr)
			checkNext(t, cfg)
		})
	}
}

// signal sends a signal to a process that the test launched.
func signal(pid int, s syscall.Signal) error {
	if pid <= 1 {
		return os.ErrInvalid
	}
	return syscall.Kill(pid, s)
}
