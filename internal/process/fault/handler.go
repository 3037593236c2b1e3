package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// handler is the plugin's tools.
type handler struct{ stdout, stderr *os.File } // the process's own

const schema = `{"type":"object","properties":{
"do":{"type":"string","enum":["echo","exit","kill","stop","crash","hang","ignore","disconnect","print","flood","long_line","spawn","environ","files","eat","fork","open","write","burn"]},
"text":{"type":"string"},"number":{"type":"integer"}},"required":["do"],"additionalProperties":false}`

// Describe implements pluginwire.Handler.
func (h *handler) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	return tool.Description{
		Name:    name(),
		Version: "1",
		Tools: []tool.Spec{{
			Name:        name(),
			Description: "Misbehaves on request.",
			InputSchema: json.RawMessage(schema),
		}},
	}, nil
}

// name is that of the plugin and of its tool: "fault", or the executable's if that begins with "chaos", so that several
// copies can stand side by side.
func name() string {
	if base := filepath.Base(os.Args[0]); strings.HasPrefix(base, "chaos") {
		return base
	}
	return "fault"
}

// request is what a call asks for.
type request struct {
	Do     string `json:"do"`
	Text   string `json:"text"`   // what to echo or print, where (stdout, stderr: as the process has them; served_…: as go-plugin does), how to spawn
	Number int    `json:"number"` // an exit code, a signal, how many bytes, processes or files
}

// Call implements pluginwire.Handler.
func (h *handler) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	var text []byte
	for complete := false; !complete; {
		var err error
		if text, complete, err = call.NextArguments(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return tool.Result{}, tool.Errorf(tool.KindInvalidArgument, "reading the arguments: %w", err)
	}
	return h.do(ctx, r)
}

func (h *handler) do(ctx context.Context, r request) (tool.Result, error) {
	switch r.Do {
	case "echo":
		return tool.TextResult(r.Text), nil
	case "exit":
		os.Exit(r.Number)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.Signal(r.Number))
		<-ctx.Done()
	case "stop":
		stopSelf() // other threads may run on for a moment
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "crash":
		go panic(r.Text) // in a goroutine of its own nothing recovers it
		sleep()
	case "hang":
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "ignore":
		sleep()
	case "disconnect":
		disconnect()
		sleep()
	case "print":
		return h.print(r.Text)
	case "flood":
		floodWith(h.stderr, r.Number)
		return tool.TextResult("done"), nil
	case "long_line":
		_, err := h.stdout.Write(append(bytes.Repeat([]byte("x"), r.Number), '\n'))
		return tool.TextResult("done"), err
	case "spawn":
		pid, err := spawn(r.Text, h.stdout, h.stderr)
		return tool.TextResult(strconv.Itoa(pid)), err
	case "environ":
		return asJSON(os.Environ())
	case "files":
		return asJSON(openFiles())
	case "eat":
		eat(r.Number)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case "fork":
		started, err := fork(r.Number)
		return tool.TextResult(fmt.Sprintf("%d started, then %v", started, err)), nil
	case "open":
		opened, err := open(r.Number)
		return tool.TextResult(fmt.Sprintf("%d opened, then %v", opened, err)), nil
	case "write":
		written, err := write(r.Number)
		return tool.TextResult(fmt.Sprintf("%d written, then %v", written, err)), nil
	case "burn":
		return tool.Result{}, burn(ctx)
	}
	return tool.ErrorResult(fmt.Sprintf("no idea how to do %q", r.Do)), nil
}

// print prints the text on all four ways out, with the way's name before it.
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

// openFiles returns what the process's descriptors are, on systems that have /proc.
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

// disconnect cuts every connection of the process, and leaves what listens.
func disconnect() {
	for fd := 3; fd < 256; fd++ {
		if _, err := syscall.Getpeername(fd); err == nil {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
	}
}
