// Command ownerplugin is a plugin for tests whose declaration is the last line of its executable,
// in JSON: its name, its tools, its filters and a variable. Copies of one build with different last
// lines are different plugins.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

// claim is the plugin's declaration.
type claim struct {
	Plugin  string `json:"plugin"`
	Version string `json:"version"` // part of each tool's result
	Tools   []struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Dangerous   bool     `json:"dangerous"`
		ReadOnly    bool     `json:"read_only"`
		Idempotent  bool     `json:"idempotent"`
		Tags        []string `json:"tags"`
		ContextKeys []string `json:"context_keys"`
	} `json:"tools"`
	// Filters replace each result by the name of the filter.
	Filters []struct {
		Name  string   `json:"name"`
		Tools []string `json:"tools"`
	} `json:"filters"`
	// An environment variable whose value is part of each tool's result.
	Variable string `json:"variable"`
}

func main() {
	c, err := read()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := sdk.Plugin{Name: c.Plugin, Version: c.Version}
	for _, t := range c.Tools {
		spec := sdk.Spec{
			Name: t.Name, Description: t.Description + "Tells a version.", Dangerous: t.Dangerous, ReadOnly: t.ReadOnly, Idempotent: t.Idempotent,
			Tags: t.Tags, ContextKeys: t.ContextKeys,
		}
		p.Tools = append(p.Tools, sdk.Func(spec, func(context.Context, struct{}) (string, error) {
			return c.Version + " " + os.Getenv(c.Variable), nil
		}))
	}
	for _, f := range c.Filters {
		p.Filters = append(p.Filters, sdk.Filter{Name: f.Name, Tools: f.Tools, After: func(_ context.Context, call *sdk.FilterCall) error {
			call.SetResult(sdk.TextResult("hidden by " + f.Name))
			return nil
		}})
	}
	sdk.Serve(p)
}

// read returns the claim in the last line of this executable.
func read() (claim, error) {
	var c claim
	path, err := os.Executable()
	if err != nil {
		return c, fmt.Errorf("finding the executable: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return c, fmt.Errorf("reading the claim: %w", err)
	}
	defer file.Close()
	const longest = 4096
	if _, err := file.Seek(-longest, io.SeekEnd); err != nil {
		return c, fmt.Errorf("reading the claim: %w", err)
	}
	tail, err := io.ReadAll(file)
	if err == nil {
		err = json.Unmarshal(tail[bytes.LastIndexByte(tail, '\n')+1:], &c)
	}
	if err != nil {
		return c, fmt.Errorf("reading the claim: %w", err)
	}
	return c, nil
}
