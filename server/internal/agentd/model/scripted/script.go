package scripted

import (
	"fmt"
	"mime"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// turn is one answer, and the failures that the model reports before it.
type turn struct {
	failures []entry
	answer   *entry // nil if the script ends with failures
}

// entry is one element of a list of turns.
type entry struct {
	line    int
	text    text
	calls   []call
	stop    model.StopReason // empty: derived from whether there are calls
	delay   time.Duration
	chunks  int
	usage   tool.Usage
	failure *model.Error // if not nil, the entry ends with it
}

// Load reads a script file. Its errors name the file, the line and the column.
func Load(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script. name is the file name in errors and in the model's name.
func Parse(name string, data []byte) (*Model, error) {
	s, err := readScript(name, data)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	m := &Model{
		name: name, turns: turnsOf(name, s.turns), summaries: turnsOf(name, s.summaries), failed: make(map[digest]int),
		features: model.Features{Attachments: s.attachments},
	}
	for _, t := range s.tasks {
		m.tasks = append(m.tasks, task{t.prompt, turnsOf(name, t.turns)})
	}
	return m, nil
}

// turnsOf groups entries into answers with the failures before each.
func turnsOf(name string, entries []entry) []turn {
	var turns []turn
	var pending []entry
	for _, e := range entries {
		if e.failure != nil {
			e.failure.Message = fmt.Sprintf("line %d of the script %s says that the model fails here", e.line, name)
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

// script is the content of a script file.
type script struct {
	turns, summaries []entry
	tasks            []scriptTask
	attachments      []string // the MIME types that the model reads
}

// scriptTask has the turns of the conversations that begin with a prompt.
type scriptTask struct {
	prompt string
	turns  []entry
}

func readScript(name string, data []byte) (s script, err error) {
	root, err := yamldoc.Parse(name, data)
	if err != nil {
		if strings.Contains(err.Error(), "flow map") {
			err = fmt.Errorf("%w; a value that begins with {{ has to be quoted", err)
		}
		return s, err
	}
	if root.Kind() == yamldoc.Null {
		return s, root.Errorf("the file is empty; it needs a list of turns")
	}
	keys, err := root.Entries("a script", "turns", "tasks", "summaries", "attachments")
	if err != nil {
		return s, err
	}
	for _, k := range keys {
		switch k.Key {
		case "turns":
			s.turns, err = readEntries(k)
		case "tasks":
			s.tasks, err = readTasks(k)
		case "summaries":
			s.summaries, err = readSummaries(k)
		case "attachments":
			s.attachments, err = readTypes(k)
		}
		if err != nil {
			return s, err
		}
	}
	if s.turns == nil {
		return s, root.Errorf("the script has no turns")
	}
	return s, nil
}

// readTypes reads a list of MIME types, such as image/png and text/*.
func readTypes(k yamldoc.Entry) ([]string, error) {
	nodes, err := k.Value.Items(k.Key)
	if err != nil {
		return nil, err
	}
	types := make([]string, len(nodes))
	for i, node := range nodes {
		if types[i], err = node.Text(k.Key); err != nil {
			return nil, err
		}
		if _, _, err := mime.ParseMediaType(types[i]); err != nil || !strings.Contains(types[i], "/") {
			return nil, node.Errorf("%q is not a MIME type, such as image/png or text/*", types[i])
		}
	}
	return types, nil
}

// readTasks reads a list of prompts with their turns.
func readTasks(k yamldoc.Entry) ([]scriptTask, error) {
	nodes, err := k.Value.Items(k.Key)
	if err != nil {
		return nil, err
	}
	tasks := make([]scriptTask, len(nodes))
	for i, node := range nodes {
		keys, err := node.Entries("a task", "prompt", "turns")
		if err != nil {
			return nil, err
		}
		t := &tasks[i]
		for _, k := range keys {
			switch k.Key {
			case "prompt":
				t.prompt, err = k.Value.Text(k.Key)
			case "turns":
				t.turns, err = readEntries(k)
			}
			if err != nil {
				return nil, err
			}
		}
		if t.prompt == "" || t.turns == nil {
			return nil, node.Errorf("a task needs a prompt, which is a part of the text that its conversation begins with, and turns")
		}
	}
	return tasks, nil
}

func readSummaries(k yamldoc.Entry) ([]entry, error) {
	entries, err := readEntries(k)
	for _, e := range entries {
		if len(e.calls) > 0 {
			return nil, e.calls[0].node.Errorf("a summary has no calls")
		}
	}
	return entries, err
}

func readEntries(k yamldoc.Entry) ([]entry, error) {
	nodes, err := k.Value.Items(k.Key)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, k.Errorf("the list of %s is empty", k.Key)
	}
	var entries []entry
	ids := make(map[string]int) // line by id
	number := 1
	for _, node := range nodes {
		e, err := readEntry(node)
		if err != nil {
			return nil, err
		}
		if err := nameCalls(&e, number, ids); err != nil {
			return nil, err
		}
		if e.failure == nil {
			number++
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func readEntry(node yamldoc.Node) (entry, error) {
	e := entry{line: node.Place().Line, chunks: 1}
	keys, err := node.Entries("a turn", "text", "calls", "stop_reason", "delay", "chunks", "usage", "error")
	if err != nil {
		return entry{}, err
	}
	var stop yamldoc.Entry
	for _, k := range keys {
		switch k.Key {
		case "text":
			e.text, err = readText(k)
		case "calls":
			e.calls, err = readCalls(k.Value)
		case "stop_reason":
			stop = k
			e.stop, err = readStopReason(k.Value)
		case "delay":
			e.delay, err = readDuration(k)
		case "chunks":
			e.chunks, err = readNumber(k)
		case "usage":
			e.usage, err = readUsage(k.Value)
		case "error":
			e.failure, err = readFailure(k.Value)
		}
		if err != nil {
			return entry{}, err
		}
	}
	if e.failure != nil && stop.Key != "" {
		return entry{}, stop.Errorf("a turn with an error has no stop_reason, because the error ends it first")
	}
	return e, nil
}

// readString returns the text of a scalar. A missing value is the empty text.
func readString(k yamldoc.Entry) (string, error) {
	if k.Value.Kind() == yamldoc.Null {
		return "", nil
	}
	return k.Value.Text(k.Key)
}

func readText(k yamldoc.Entry) (text, error) {
	source, err := readString(k)
	if err != nil {
		return text{}, err
	}
	return parseTemplate(k.Key, source, k.Value)
}

func readNumber(k yamldoc.Entry) (int, error) {
	source, _ := readString(k)
	number, err := strconv.Atoi(source)
	if err != nil || number < 0 {
		return 0, k.Value.Errorf("%s has to be a whole number, 0 or more", k.Key)
	}
	return number, nil
}

func readDuration(k yamldoc.Entry) (time.Duration, error) {
	source, _ := readString(k)
	if _, err := strconv.ParseFloat(source, 64); err == nil {
		source += "s"
	}
	length, err := time.ParseDuration(source)
	if err != nil || length < 0 {
		return 0, k.Value.Errorf("%s has to be a duration such as 250ms, or a number of seconds, 0 or more", k.Key)
	}
	return length, nil
}

func readStopReason(node yamldoc.Node) (model.StopReason, error) {
	name, err := node.Text("stop_reason")
	if err != nil {
		return "", err
	}
	known := []string{
		string(model.StopEndTurn), string(model.StopToolUse), string(model.StopMaxTokens), string(model.StopPauseTurn),
		string(model.StopRefusal), string(model.StopContentFilter), string(model.StopContextOverflow),
	}
	if !slices.Contains(known, name) {
		return "", node.Errorf("unknown stop_reason %q; use one of %s", name, strings.Join(known, ", "))
	}
	return model.StopReason(name), nil
}

func readUsage(node yamldoc.Node) (tool.Usage, error) {
	keys, err := node.Entries("usage", "input", "output")
	if err != nil {
		return tool.Usage{}, err
	}
	var usage tool.Usage
	for _, k := range keys {
		n, err := readNumber(k)
		if err != nil {
			return usage, err
		}
		if k.Key == "input" {
			usage.InputTokens = uint64(n)
		} else {
			usage.OutputTokens = uint64(n)
		}
	}
	return usage, nil
}

// readFailure reads the error of an entry. turnsOf adds its message.
func readFailure(node yamldoc.Node) (*model.Error, error) {
	keys, err := node.Entries("an error", "status", "retry_after")
	if err != nil {
		return nil, err
	}
	failure := &model.Error{Code: "scripted"}
	for _, k := range keys {
		switch k.Key {
		case "status":
			failure.Status, err = readNumber(k)
		case "retry_after":
			failure.RetryAfter, err = readDuration(k)
		}
		if err != nil {
			return nil, err
		}
	}
	if failure.Status != 0 && (failure.Status < 400 || failure.Status > 599) {
		return nil, node.Errorf("the status of an error is 400 to 599, or 0 for a connection that broke")
	}
	failure.Retryable, failure.Unusable = model.RetryableStatus(failure.Status), model.Unusable(failure.Status)
	return failure, nil
}
