// Command caller is the Go caller of server/internal/e2e/languages. It makes the calls of a table
// and prints the events of each call.
//
//	caller ADDRESS CASES SESSION
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// testCase is one call of the table.
type testCase struct {
	Name          string                     `json:"name"`
	Tool          string                     `json:"tool"`
	Arguments     string                     `json:"arguments"`
	Pieces        []piece                    `json:"pieces"`
	CallID        string                     `json:"call_id"`
	TimeoutMS     int                        `json:"timeout_ms"`
	Context       map[string]json.RawMessage `json:"context"`
	MaxShownBytes int                        `json:"max_shown_bytes"`
	Cancel        string                     `json:"cancel"`
}

// piece is a part of the argument text. The caller waits for a status with the text Await before it
// sends the next piece; "" means that it does not wait.
type piece struct {
	Bytes []byte `json:"bytes"`
	Await string `json:"await"`
}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "caller:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, file, session string) error {
	encoded, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var cases []testCase
	if err := json.Unmarshal(encoded, &cases); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	c, err := client.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	out := bufio.NewWriter(os.Stdout)
	for _, tc := range cases {
		fmt.Fprintf(out, "%s\n", tc.Name)
		if err := perform(ctx, c, tc, session, &dump{out: out, client: c, session: session}); err != nil {
			return fmt.Errorf("case %q: %w", tc.Name, err)
		}
	}
	return out.Flush()
}

// perform makes one call and prints its events.
func perform(ctx context.Context, c *client.Client, tc testCase, session string, d *dump) error {
	call := tool.Call{
		ID: tc.CallID, Tool: tc.Tool, Arguments: json.RawMessage(tc.Arguments), Session: session,
		Timeout: time.Duration(tc.TimeoutMS) * time.Millisecond, Context: tc.Context, MaxShown: &tc.MaxShownBytes,
	}
	e, err := c.Open(ctx, call, len(tc.Pieces) == 0)
	if err != nil {
		return err
	}
	defer e.Close()
	for i, p := range tc.Pieces {
		if err := e.Send(ctx, p.Bytes, i == len(tc.Pieces)-1); err != nil {
			return err
		}
		for shown := false; p.Await != "" && !shown; {
			event, err := e.Next(ctx)
			if err != nil {
				return err
			}
			d.event(ctx, event)
			shown = event.Status != nil && shows(event.Status, p.Await)
		}
	}
	for {
		event, err := e.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d.event(ctx, event)
		if event.Status != nil && tc.Cancel != "" {
			e.Cancel(tc.Cancel)
		}
	}
}

func shows(s *tool.Status, text string) bool {
	var parameters struct {
		Text string `json:"text"`
	}
	return json.Unmarshal(s.Parameters, &parameters) == nil && parameters.Text == text
}
