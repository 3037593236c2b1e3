package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// argumentsFile is the name of the file that an editor opens. The ending chooses the highlighting.
	argumentsFile = "arguments.json"
	// promptArguments stands above arguments that a person edits at the prompt.
	promptArguments = "  the arguments as JSON; Alt-Enter adds a line, Enter takes them, Ctrl-C clears them (empty: back):"
)

// argumentEditor lets a person edit the arguments of a call in the program $VISUAL or $EDITOR. The
// zero value cannot. It is for one goroutine.
type argumentEditor struct {
	process cli.Process
	command string // empty: the person edits at the prompt
	stop    context.CancelFunc
	done    <-chan edited // nil: no edit is in progress
}

// edited is the result of an edit. An empty text means that nothing is to change.
type edited struct {
	text string
	err  error
}

func newArgumentEditor(p cli.Process) *argumentEditor {
	e := &argumentEditor{process: p}
	if cli.IsTerminal(p.Stdin) && cli.IsTerminal(p.Stdout) {
		e.command = terminal.EditorCommand(p.Getenv)
	}
	return e
}

// usable reports whether begin can be called.
func (e *argumentEditor) usable() bool { return e != nil && e.command != "" }

// busy reports whether the person edits. Nothing else may use the terminal meanwhile.
func (e *argumentEditor) busy() bool { return e != nil && e.done != nil }

// result returns the channel that gets the result of the edit; nil: no edit is in progress. The
// receiver calls taken.
func (e *argumentEditor) result() <-chan edited {
	if e == nil {
		return nil
	}
	return e.done
}

func (e *argumentEditor) taken() {
	if e.busy() {
		e.stop()
		e.done, e.stop = nil, nil
	}
}

// end ends an edit in progress, and waits for the editor.
func (e *argumentEditor) end() {
	if !e.busy() {
		return
	}
	e.stop()
	<-e.done
	e.done, e.stop = nil, nil
}

// begin opens the editor with a text.
func (e *argumentEditor) begin(text string) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan edited, 1)
	e.done, e.stop = done, stop
	go func() { // ends with the edit; see end
		result, err := e.edit(ctx, text)
		done <- edited{result, err}
	}()
}

// edit returns the edited text, or "" if the person has changed nothing.
func (e *argumentEditor) edit(ctx context.Context, text string) (string, error) {
	result, err := terminal.EditText(ctx, e.process, e.command, argumentsFile, text)
	if err != nil || strings.TrimSpace(result) == strings.TrimSpace(text) {
		return "", err
	}
	return result, nil
}

// prefilled returns arguments as a person edits them: with line ends, and with escapes instead of
// characters that control a terminal, which mean the same in JSON. Arguments that are no JSON stay
// as they are, without such characters.
func prefilled(arguments string) string {
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(arguments), "", "  ") != nil {
		return cli.Visible(arguments) + "\n"
	}
	return string(cli.EscapeJSON(pretty.Bytes())) + "\n"
}

// argumentsQuestion is the question in which a person edits arguments at the prompt.
func argumentsQuestion(draft string) (terminal.Question, error) {
	if !terminal.FitsEditor(draft) {
		return terminal.Question{}, terminal.ErrTooLong
	}
	return terminal.Question{Prompt: promptArguments, Text: strings.TrimSpace(draft)}, nil
}

// checkedArguments returns edited arguments as they are sent, or an error that says what is wrong
// with them. nil without an error means that they equal the arguments before the edit.
func checkedArguments(text, before string, schema json.RawMessage) (json.RawMessage, error) {
	if err := agent.CheckArguments(schema, json.RawMessage(text)); err != nil {
		return nil, err
	}
	var now, then bytes.Buffer
	if err := json.Compact(&now, []byte(text)); err != nil {
		return nil, err
	}
	if json.Compact(&then, []byte(before)) == nil && bytes.Equal(cli.EscapeJSON(now.Bytes()), cli.EscapeJSON(then.Bytes())) {
		return nil, nil
	}
	return now.Bytes(), nil
}

// editArguments lets a person edit the arguments of a call until they fit the schema, and returns
// them. It returns nil if the person leaves them as they are.
func editArguments(ctx context.Context, p cli.Process, before string, schema json.RawMessage) (json.RawMessage, error) {
	e, c, draft := newArgumentEditor(p), terminal.NewConsole(p), prefilled(before)
	for {
		text, err := editOnce(ctx, e, c, draft)
		if err != nil || text == "" {
			return nil, err
		}
		made, err := checkedArguments(text, before, schema)
		if err == nil {
			return made, nil
		}
		fmt.Fprintf(p.Err(), "%v\n", err)
		word, asked := c.Answer(ctx.Done(), terminal.Question{Prompt: "edit them again? [y]es, or no: ", Decision: true})
		if asked != nil || !strings.HasPrefix(strings.ToLower(word), "y") {
			return nil, err
		}
		draft = text
	}
}

// editOnce returns the text that a person made of a draft, or "" if nothing is to change.
func editOnce(ctx context.Context, e *argumentEditor, c *terminal.Console, draft string) (string, error) {
	if e.usable() {
		return e.edit(ctx, draft)
	}
	q, err := argumentsQuestion(draft)
	if err != nil {
		return "", err
	}
	text, err := c.Answer(ctx.Done(), q)
	if errors.Is(err, io.EOF) || errors.Is(err, terminal.ErrInterrupted) {
		return "", nil
	}
	return text, err
}
