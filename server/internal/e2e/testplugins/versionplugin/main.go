// Command versionplugin is a plugin for tests whose results say which executable it was started
// from. They contain the stamp, which is JSON on the last line of the executable. Copies of one
// build with different stamps have different digests and results, and some of them are faulty.
//
// The tests write the stamps. No shipped program imports it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

// stamp is the last line of the executable.
type stamp struct {
	Version string `json:"version"`
	// Plugin is the name that the plugin declares. Empty means versionplugin.
	Plugin string `json:"plugin"`
	// Fault is the plugin's fault: "exit", "garbage", "contract" or "hang". Empty means none.
	Fault string `json:"fault"`
	// Later is a file that the first process makes. Only processes that find it have the fault.
	// Empty means that all have it.
	Later string `json:"later"`
}

func main() {
	s, err := readStamp()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if s.isFaulty() {
		s.fail()
	}
	sdk.Serve(s.plugin())
}

// longestStamp bounds the part of the file's end that is read.
const longestStamp = 4096

// readStamp reads the last line of this executable.
func readStamp() (stamp, error) {
	var s stamp
	path, err := os.Executable()
	if err != nil {
		return s, fmt.Errorf("finding the executable: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("reading the stamp: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(-longestStamp, io.SeekEnd); err != nil {
		return s, fmt.Errorf("reading the stamp: %w", err)
	}
	tail, err := io.ReadAll(file)
	if err != nil {
		return s, fmt.Errorf("reading the stamp: %w", err)
	}
	if err := json.Unmarshal(tail[bytes.LastIndexByte(tail, '\n')+1:], &s); err != nil {
		return s, fmt.Errorf("reading the stamp: %w", err)
	}
	return s, nil
}

// isFaulty reports whether this process has the fault.
func (s *stamp) isFaulty() bool {
	if s.Fault == "" || s.Later == "" {
		return s.Fault != ""
	}
	file, err := os.OpenFile(s.Later, os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = file.Close() // empty
	}
	return errors.Is(err, os.ErrExist)
}

// fail behaves as the fault says, and does not return.
func (s *stamp) fail() {
	fmt.Fprintf(os.Stderr, "version %s is broken: %s\n", s.Version, s.Fault)
	switch s.Fault {
	case "garbage":
		fmt.Println("ready to serve!")
	case "contract":
		fmt.Printf("1|99|unix|%s/s|grpc\n", os.Getenv("PLUGIN_UNIX_SOCKET_DIR"))
	case "hang":
	default:
		os.Exit(7)
	}
	for {
		time.Sleep(time.Hour)
	}
}

func (s *stamp) plugin() sdk.Plugin {
	return sdk.Plugin{
		Name: cmp.Or(s.Plugin, "versionplugin"), Version: s.Version, Description: "Says its version.",
		Tools: []sdk.Tool{
			sdk.Func(sdk.Spec{Name: "versionplugin_read", Description: "Says the version.", ReadOnly: true}, s.read),
			sdk.Func(sdk.Spec{Name: "versionplugin_write", Description: "Adds a line to a file."}, s.write),
			sdk.Object(sdk.Spec{Name: "versionplugin_draft", Description: "Adds a line to a file, and shows it while it is written.", PartialArguments: true}, s.openDrafter),
			sdk.Func(sdk.Spec{Name: "versionplugin_hold", Description: "Says the version once a file is there."}, s.hold),
		},
	}
}

// pause is how long calls last. It is much longer than everything else in a call. So every caller
// has a call in progress at any moment, and the machine is idle most of the time.
const pause = 50 * time.Millisecond

type nothing struct{}

func (s *stamp) read(ctx context.Context, _ nothing) (string, error) {
	return s.Version, wait(ctx, pause)
}

type line struct {
	File string `json:"file" jsonschema:"a file of the workspace"`
	Text string `json:"text" jsonschema:"what to add"`
}

func (s *stamp) write(ctx context.Context, in line) (string, error) {
	file, err := os.OpenFile(filepath.Join(sdk.Workspace(ctx), in.File), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(in.Text + " " + s.Version + "\n")
	return s.Version, errors.Join(err, file.Close(), wait(ctx, pause))
}

type held struct {
	Until string `json:"until" jsonschema:"a file of the workspace"`
}

func (s *stamp) hold(ctx context.Context, in held) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(sdk.Workspace(ctx), in.Until)); err == nil {
			return s.Version, nil
		}
		if err := wait(ctx, pause); err != nil {
			return "", err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
