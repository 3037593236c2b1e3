package fault

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// death describes how the process ends by itself.
type death struct {
	code  int    // negative: none
	panic string // instead of an exit code
}

func (d death) planned() bool { return d.code >= 0 || d.panic != "" }

func (d death) die() {
	if d.panic != "" {
		panic(d.panic)
	}
	os.Exit(d.code)
}

// dieDuringLaunch dies before it serves anything.
func (f *flags) dieDuringLaunch() {
	switch f.when {
	case "start":
	case "half":
		fmt.Print("1|1|unix|")
	case "line":
		fmt.Println(listen("{dir}", nil))
	case "connected":
		fmt.Println(listen("{dir}", f.death.die))
		sleep()
	default:
		fmt.Fprintf(os.Stderr, "the moment %q is not known\n", f.when)
	}
	f.death.die()
}

// dieBySignal dies on SIGUSR1. The sender knows how far the plugin is.
func (f *flags) dieBySignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() { // for as long as the process lives
		<-signals
		f.death.die()
	}()
}

// copyCrash makes the runtime write its crash output to a file as well.
func copyCrash(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close() // the runtime has duplicated it
	return debug.SetCrashOutput(file, debug.CrashOptions{})
}

// crash panics without a recover. words is the message. The printed stacks have at least the given
// number of bytes.
func crash(words string, bytes int) {
	const stack = 200 // minimal size of the printed stack of a sleeping goroutine, in bytes
	if bytes > 0 {
		debug.SetTraceback("all")
	}
	for range bytes / stack {
		go sleep()
	}
	go panic(strings.Clone(words))
	sleep()
}
