package scripted

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// call is a tool call of an entry.
type call struct {
	id        string
	at        *token.Token
	tool      string
	arguments arguments
	until     *text // a file that is waited for before the last piece of the arguments; nil: nothing is
}

func (d document) calls(node ast.Node) ([]call, error) {
	nodes, err := d.items("calls", node)
	if err != nil {
		return nil, err
	}
	calls := make([]call, 0, len(nodes))
	for _, node := range nodes {
		c, err := d.call(node)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func (d document) call(node ast.Node) (call, error) {
	c := call{at: start(node)}
	fields, err := d.fields("a call", node, "id", "tool", "arguments", "arguments_raw", "pause_until")
	if err != nil {
		return call{}, err
	}
	for _, f := range fields {
		switch f.key {
		case "id":
			c.id, err = d.text("id", f.value)
		case "tool":
			c.tool, err = d.text("tool", f.value)
		case "pause_until":
			c.until = new(text)
			*c.until, err = d.textTemplate("pause_until", f.value)
		default:
			if c.arguments != nil {
				return call{}, d.errorAt(f.at, "a call has arguments or arguments_raw, not both")
			}
			if f.key == "arguments" {
				c.arguments, err = d.arguments(f.value)
			} else {
				c.arguments, err = d.textTemplate(f.key, f.value)
			}
		}
		if err != nil {
			return call{}, err
		}
	}
	if c.tool == "" {
		return call{}, d.errorAt(c.at, "the call names no tool")
	}
	if c.arguments == nil {
		c.arguments = object{}
	}
	return c, nil
}

// nameCalls gives calls without an id theirs, and refuses ids that are taken. The calls of an entry that fails never
// enter a conversation, so that a later answer may use their ids.
func (d document) nameCalls(e *entry, number int, taken map[string]int) error {
	if e.failure != nil {
		taken = make(map[string]int)
	}
	for i := range e.calls {
		c := &e.calls[i]
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", number, i+1)
		}
		if line, ok := taken[c.id]; ok {
			return d.errorAt(c.at, "the id %q is taken by the call of line %d", c.id, line)
		}
		taken[c.id] = c.at.Position.Line
	}
	return nil
}
