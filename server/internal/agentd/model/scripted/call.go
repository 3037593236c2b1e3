package scripted

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// call is a tool call of an entry.
type call struct {
	id        string
	node      yamldoc.Node
	tool      string
	arguments arguments
	// path of a file that must exist before the last piece of the arguments; nil means none
	until *text
}

func readCalls(node yamldoc.Node) ([]call, error) {
	nodes, err := node.Items("calls")
	if err != nil {
		return nil, err
	}
	calls := make([]call, 0, len(nodes))
	for _, node := range nodes {
		c, err := readCall(node)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func readCall(node yamldoc.Node) (call, error) {
	c := call{node: node}
	keys, err := node.Entries("a call", "id", "tool", "arguments", "arguments_raw", "pause_until")
	if err != nil {
		return call{}, err
	}
	for _, k := range keys {
		switch k.Key {
		case "id":
			c.id, err = readString(k)
		case "tool":
			c.tool, err = readString(k)
		case "pause_until":
			c.until = new(text)
			*c.until, err = readText(k)
		default:
			if c.arguments != nil {
				return call{}, k.Errorf("a call has arguments or arguments_raw, not both")
			}
			if k.Key == "arguments" {
				c.arguments, err = readArguments(k.Value)
			} else {
				c.arguments, err = readText(k)
			}
		}
		if err != nil {
			return call{}, err
		}
	}
	if c.tool == "" {
		return call{}, node.Errorf("the call names no tool")
	}
	if c.arguments == nil {
		c.arguments = object{}
	}
	return c, nil
}

// nameCalls gives an id to each call without one, and refuses duplicate ids. Calls of an entry with
// an error never enter a conversation, so later answers may reuse their ids.
func nameCalls(e *entry, number int, taken map[string]int) error {
	if e.failure != nil {
		taken = make(map[string]int)
	}
	for i := range e.calls {
		c := &e.calls[i]
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", number, i+1)
		}
		if line, ok := taken[c.id]; ok {
			return c.node.Errorf("the id %q is taken by the call of line %d", c.id, line)
		}
		taken[c.id] = c.node.Place().Line
	}
	return nil
}
