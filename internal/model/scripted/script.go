package scripted

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// turn is one answer and what fails before it is given.
type turn struct {
	failures []entry
	answer   *entry // nil if the script ends with errors
}

// entry is one element of the list of turns.
type entry struct {
	line    int
	text    text
	calls   []call
	stop    model.StopReason // empty: by whether there are calls
	delay   time.Duration
	chunks  int
	usage   tool.Usage
	failure *model.Error // not nil: the entry ends with it
}

// Load reads the script in a file. Its errors name the file, the line and the column.
func Load(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script. The name stands for the file in errors and in the model's name.
func Parse(name string, data []byte) (*Model, error) {
	d := document{name: name}
	entries, err := d.lists(data)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return &Model{name: name, turns: turnsOf(entries.turns), summaries: turnsOf(entries.summaries), failed: make(map[digest]int)}, nil
}

// turnsOf returns what is answered, each with what fails before it.
func turnsOf(entries []entry) []turn {
	var turns []turn
	var pending []entry
	for _, e := range entries {
		if e.failure != nil {
			pending = append(pending, e)
			continue
		}
		turns = append(turns, turn{failures: pending, answer: &e})
		pending = nil
	}
	if pending != nil {
		turns = append(turns, turn{failures: pending})
	}
	return turns
}

// lists are the elements of a script.
type lists struct{ turns, summaries []entry }

func (d document) lists(data []byte) (lists, error) {
	var l lists
	root, err := d.root(data)
	if err != nil {
		return l, err
	}
	if root == nil {
		return l, d.errorAt(nil, "the file is empty; it needs a list of turns")
	}
	fields, err := d.fields("a script", root, "turns", "summaries")
	if err != nil {
		return l, err
	}
	for _, f := range fields {
		if f.key == "turns" {
			l.turns, err = d.entries(f)
		} else {
			l.summaries, err = d.summaries(f)
		}
		if err != nil {
			return l, err
		}
	}
	if l.turns == nil {
		return l, d.errorAt(start(root), "the script has no turns")
	}
	return l, nil
}

func (d document) summaries(f field) ([]entry, error) {
	entries, err := d.entries(f)
	for _, e := range entries {
		if len(e.calls) > 0 {
			return nil, d.errorAt(e.calls[0].at, "a summary has no calls")
		}
	}
	return entries, err
}

func (d document) entries(f field) ([]entry, error) {
	nodes, err := d.items(f.key, f.value)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, d.errorAt(f.at, "the list of %s is empty", f.key)
	}
	var entries []entry
	ids := make(map[string]int) // the line of each
	number := 1
	for _, node := range nodes {
		e, err := d.entry(node)
		if err != nil {
			return nil, err
		}
		if err := d.nameCalls(&e, number, ids); err != nil {
			return nil, err
		}
		if e.failure == nil {
			number++
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (d document) entry(node ast.Node) (entry, error) {
	e := entry{line: start(node).Position.Line, chunks: 1}
	fields, err := d.fields("a turn", node, "text", "calls", "stop_reason", "delay", "chunks", "usage", "error")
	if err != nil {
		return entry{}, err
	}
	var stop *token.Token
	for _, f := range fields {
		switch f.key {
		case "text":
			e.text, err = d.textTemplate("text", f.value)
		case "calls":
			e.calls, err = d.calls(f.value)
		case "stop_reason":
			stop = f.at
			e.stop, err = d.stopReason(f.value)
		case "delay":
			e.delay, err = d.duration("delay", f.value)
		case "chunks":
			e.chunks, err = d.number("chunks", f.value)
		case "usage":
			e.usage, err = d.usage(f.value)
		case "error":
			e.failure, err = d.failure(f.value, e.line)
		}
		if err != nil {
			return entry{}, err
		}
	}
	if e.failure != nil && stop != nil {
		return entry{}, d.errorAt(stop, "a turn with an error has no stop_reason: it does not come to that")
	}
	return e, nil
}

func (d document) textTemplate(what string, node ast.Node) (text, error) {
	source, err := d.text(what, node)
	if err != nil {
		return text{}, err
	}
	return d.template(what, source, start(node))
}

func (d document) stopReason(node ast.Node) (model.StopReason, error) {
	name, err := d.text("stop_reason", node)
	if err != nil {
		return "", err
	}
	known := []string{
		string(model.StopEndTurn), string(model.StopToolUse), string(model.StopMaxTokens), string(model.StopPauseTurn),
		string(model.StopRefusal), string(model.StopContentFilter), string(model.StopContextOverflow),
	}
	if !slices.Contains(known, name) {
		return "", d.errorAt(start(node), "unknown stop_reason %q; use one of %s", name, strings.Join(known, ", "))
	}
	return model.StopReason(name), nil
}

func (d document) usage(node ast.Node) (tool.Usage, error) {
	fields, err := d.fields("usage", node, "input", "output")
	if err != nil {
		return tool.Usage{}, err
	}
	var usage tool.Usage
	for _, f := range fields {
		n, err := d.number(f.key, f.value)
		if err != nil {
			return usage, err
		}
		if f.key == "input" {
			usage.InputTokens = uint64(n)
		} else {
			usage.OutputTokens = uint64(n)
		}
	}
	return usage, nil
}

func (d document) failure(node ast.Node, line int) (*model.Error, error) {
	fields, err := d.fields("an error", node, "status", "retry_after")
	if err != nil {
		return nil, err
	}
	failure := &model.Error{Code: "scripted"}
	for _, f := range fields {
		switch f.key {
		case "status":
			failure.Status, err = d.number("status", f.value)
		case "retry_after":
			failure.RetryAfter, err = d.duration("retry_after", f.value)
		}
		if err != nil {
			return nil, err
		}
	}
	if failure.Status != 0 && (failure.Status < 400 || failure.Status > 599) {
		return nil, d.errorAt(start(node), "the status of an error is 400 to 599, or 0 for a connection that broke")
	}
	failure.Retryable = model.RetryableStatus(failure.Status)
	failure.Message = fmt.Sprintf("line %d of the script %s says that the model fails here", line, d.name)
	return failure, nil
}
