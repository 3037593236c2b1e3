package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// action is a fault that a call can request.
type action struct {
	name string
	do   func(ctx context.Context, call *pluginwire.ServerCall, r request) (tool.Result, error)
}

// Actions returns the names of the faults that a call can request.
func Actions() []string {
	var names []string
	for _, a := range (&handler{}).actions() {
		names = append(names, a.name)
	}
	return names
}

func (h *handler) actions() []action {
	return []action{
		{"echo", plain(func(r request) (tool.Result, error) { return tool.TextResult(r.Text), nil })},
		{"exit", endless(func(r request) { os.Exit(r.Number) })},
		{"kill", endless(func(r request) { _ = syscall.Kill(os.Getpid(), syscall.Signal(r.Number)) })},
		{"stop", endless(func(request) { stopSelf() })}, // other threads may run on for a moment
		{"crash", endless(func(r request) { crash(r.Text, r.Number) })},
		{"hang", endless(func(request) {})},
		{"ignore", endless(func(request) { sleep() })},
		{"disconnect", endless(func(request) {
			disconnect()
			sleep()
		})},
		{"eat", endless(func(r request) { eat(r.Number) })},
		{"burn", func(ctx context.Context, _ *pluginwire.ServerCall, _ request) (tool.Result, error) {
			return tool.Result{}, burn(ctx)
		}},
		{"print", plain(func(r request) (tool.Result, error) { return h.print(r.Text) })},
		{"flood", plain(func(r request) (tool.Result, error) {
			floodWith(h.stderr, r.Number)
			return tool.TextResult("done"), nil
		})},
		{"long_line", plain(func(r request) (tool.Result, error) { // without a line end
			_, err := h.stdout.Write(bytes.Repeat([]byte("x"), r.Number))
			return tool.TextResult("done"), err
		})},
		{"spawn", plain(func(r request) (tool.Result, error) {
			pid, err := spawn(r.Text, h.stdout, h.stderr)
			return tool.TextResult(strconv.Itoa(pid)), err
		})},
		{"environ", plain(func(request) (tool.Result, error) { return asJSON(os.Environ()) })},
		{"files", plain(func(request) (tool.Result, error) { return asJSON(openFiles()) })},
		{"fork", counted("started", func(r request) (int, error) { return fork(r.Number) })},
		{"open", counted("opened", func(r request) (int, error) { return open(r.Number) })},
		{"leak", counted("leaked", func(r request) (int, error) { return leak(r.Number) })},
		{"write", counted("written", func(r request) (int, error) { return write(r.Number) })},
		{"large", plain(func(r request) (tool.Result, error) { return large(r.Text, r.Number) })},
		{"drip", drip},
		{"wait", awaitFile},
	}
}

// plain returns an action that needs only the request.
func plain(do func(r request) (tool.Result, error)) func(context.Context, *pluginwire.ServerCall, request) (tool.Result, error) {
	return func(_ context.Context, _ *pluginwire.ServerCall, r request) (tool.Result, error) { return do(r) }
}

// endless returns an action after which the call ends only when it is cancelled.
func endless(do func(r request)) func(context.Context, *pluginwire.ServerCall, request) (tool.Result, error) {
	return func(ctx context.Context, _ *pluginwire.ServerCall, r request) (tool.Result, error) {
		do(r)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
}

// counted returns an action that reports the number that it reached, and the error that ended it.
func counted(what string, do func(r request) (int, error)) func(context.Context, *pluginwire.ServerCall, request) (tool.Result, error) {
	return plain(func(r request) (tool.Result, error) {
		n, err := do(r)
		return tool.TextResult(fmt.Sprintf("%d %s, then %v", n, what, err)), nil
	})
}

// print prints the text in four ways, each time after the name of the way. stdout and stderr are
// the streams of the process. The other two ways go through go-plugin.
func (h *handler) print(text string) (tool.Result, error) {
	for _, way := range []struct {
		name string
		file *os.File
	}{{"stdout", h.stdout}, {"stderr", h.stderr}, {"served stdout", os.Stdout}, {"served stderr", os.Stderr}} {
		if _, err := fmt.Fprintf(way.file, "%s: %s\n", way.name, text); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.TextResult("done"), nil
}

func asJSON(v any) (tool.Result, error) {
	text, err := json.Marshal(v)
	return tool.TextResult(string(text)), err
}

// openFiles returns the process's open files, on systems that have /proc.
func openFiles() []string {
	entries, _ := os.ReadDir("/proc/self/fd")
	var files []string
	for _, entry := range entries {
		if link, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil {
			files = append(files, entry.Name()+" "+link)
		}
	}
	return files
}

// disconnect closes every connection of the process, but not the listening socket.
func disconnect() {
	for fd := 3; fd < 256; fd++ {
		if _, err := syscall.Getpeername(fd); err == nil {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
	}
}
