package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// outcome is the first block of a result. The tool declares no schema of it: MCP clients would get
// it as structured content, and show their model nothing else of the result.
type outcome struct {
	ExitCode       int    `json:"exit_code"` // 128 plus the number of the signal if one ended the command; -1 if it is not known
	Signal         string `json:"signal,omitempty"`
	TimedOut       bool   `json:"timed_out,omitempty"`
	DurationMS     int64  `json:"duration_ms"`
	StdoutBytes    int64  `json:"stdout_bytes"`
	StderrBytes    int64  `json:"stderr_bytes"`
	DroppedBytes   int64  `json:"dropped_bytes,omitempty"`   // of both outputs
	EndedProcesses int    `json:"ended_processes,omitempty"` // those that the command had left running
}

// ending has everything that is known about a command that has ended.
type ending struct {
	workspace.Exit
	lost           error // why the ending is unknown; nil if it is known
	duration       time.Duration
	limit          time.Duration // the time limit that the command exceeded; otherwise 0
	stdout, stderr *capture
}

// result returns the tool's result: the outcome, and then each output that is not empty as a
// separate block below its name. toolhost can thus store a large output as an artifact byte for
// byte.
func (e *ending) result() (sdk.Result, error) {
	o := outcome{
		ExitCode: e.Code, TimedOut: e.limit > 0, DurationMS: e.duration.Milliseconds(),
		StdoutBytes: e.stdout.written, StderrBytes: e.stderr.written, EndedProcesses: e.Left,
	}
	if e.Signal != 0 {
		o.ExitCode, o.Signal = 128+int(e.Signal), unix.SignalName(e.Signal)
	}
	if e.lost != nil {
		o.ExitCode = -1
	}
	var blocks []sdk.Content
	for _, output := range []struct {
		name string
		*capture
	}{{"stdout", e.stdout}, {"stderr", e.stderr}} {
		if output.written == 0 {
			continue
		}
		data, dropped, err := output.bytes()
		if err != nil {
			return sdk.Result{}, sdk.Unavailable("%w", err)
		}
		o.DroppedBytes += dropped
		blocks = append(append(blocks, sdk.Text(output.name+":")), content(output.name, data)...)
	}
	if e.limit > 0 {
		blocks = append(blocks, sdk.Text(fmt.Sprintf("[The command was ended because it was not done after %s. "+
			"Give it more with timeout_seconds, or let it do less at a time.]", e.limit.Round(time.Millisecond))))
	}
	if e.lost != nil {
		blocks = append(blocks, sdk.Text("["+e.lost.Error()+".]"))
	}
	text, err := json.Marshal(o)
	if err != nil {
		return sdk.Result{}, fmt.Errorf("encoding the outcome: %w", err)
	}
	return sdk.Result{
		Content: append([]sdk.Content{sdk.JSON(text)}, blocks...),
		IsError: o.ExitCode != 0 || o.TimedOut,
	}, nil
}

// pictures are the image types that models accept.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// content returns an output as text if it is text, and otherwise as a file or image. A note follows
// a text that is not shown byte for byte.
func content(name string, data []byte) []sdk.Content {
	const looked = 8000 // git looks for a NUL in as many bytes
	if !bytes.ContainsRune(data[:min(len(data), looked)], 0) || isRecords(data) {
		text, note := readable(data)
		if note == "" {
			return []sdk.Content{sdk.Text(text)}
		}
		return []sdk.Content{sdk.Text(text), sdk.Text(note)}
	}
	kind := http.DetectContentType(data)
	if slices.Contains(pictures, kind) {
		return []sdk.Content{sdk.Image(kind, data)}
	}
	return []sdk.Content{sdk.File(name+".bin", kind, data)}
}
