package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// PromptMessage is the prompt of a message.
const PromptMessage = "› "

// ErrInterrupted means that the person pressed Ctrl-C and had typed nothing.
var ErrInterrupted = errors.New("interrupted")

// Question is what a person answers. The zero value is a line without a prompt.
type Question struct {
	// Prompt is shown before the answer. It must have no characters that control a terminal.
	Prompt string
	// Text is what the person edits. A console that is not a terminal ignores it.
	Text string
	// Decision says that the answer decides something. A paste is no decision, so the editor ignores
	// it.
	Decision bool
	// Words are texts that Tab completes at the begin of the answer.
	Words []string
	// Message says that the person may answer before the question appears, and that the answer is
	// added to the history. The console discards early answers to all other questions.
	Message bool
}

// Typed is what a person typed, without the end of the last line. Err is io.EOF at the end of the
// input, and ErrInterrupted after Ctrl-C.
type Typed struct {
	Text string
	Err  error
}

// Console asks a person. At a terminal the person edits the answer. Elsewhere, and at a terminal
// that is dumb, the answer is a line of the input. It is for one goroutine.
type Console struct {
	process cli.Process
	in      *bufio.Reader
	lines   chan Typed // has capacity 1, for the answer that is being read
	reading bool
	asked   Question
	file    *os.File     // the terminal; nil: no editor can be used
	editor  *tea.Program // edits the answer; nil while nothing is edited
	history []string     // the messages that the person typed
}

// NewConsole returns a console on standard input and output. It reads nothing before Read.
func NewConsole(p cli.Process) *Console {
	c := &Console{process: p, in: bufio.NewReader(p.Stdin), lines: make(chan Typed, 1)}
	if file, ok := p.Stdin.(*os.File); ok && cli.IsTerminal(file) && cli.IsTerminal(p.Stdout) && p.Getenv("TERM") != "dumb" {
		c.file = file
	}
	return c
}

// Edits reports whether the person edits the answers, so that a question can begin with a text.
func (c *Console) Edits() bool { return c.file != nil }

// Echoes reports whether the terminal is at the beginning of a line after an answer.
func (c *Console) Echoes() bool { return cli.IsTerminal(c.process.Stdin) }

// Ask sets the question that Read reads the answer to. It takes back the question before.
func (c *Console) Ask(q Question) error {
	c.Withdraw()
	c.asked = q
	if !q.Message {
		c.drop()
	}
	if c.Edits() {
		return nil
	}
	return c.Say(q.Prompt)
}

// Read returns the channel of the answer. Console reads input only after a call of Read, and one
// answer at a time. After a receive, the caller calls Take.
func (c *Console) Read() <-chan Typed {
	if c.reading {
		return c.lines
	}
	c.reading = true
	if c.Edits() {
		c.edit()
		return c.lines
	}
	// The goroutine ends with the line or with the input. A read of a file cannot be canceled. If the
	// person types nothing, the goroutine ends with the process.
	go func() {
		text, err := c.in.ReadString('\n')
		if text != "" {
			err = nil // the next read returns the error again
		}
		c.lines <- Typed{strings.TrimRight(text, "\r\n"), err}
	}()
	return c.lines
}

// Take tells Console that the caller received the answer.
func (c *Console) Take() { c.reading, c.editor = false, nil }

// Answer asks a question and waits for the answer, or until done is closed.
func (c *Console) Answer(done <-chan struct{}, q Question) (string, error) {
	if err := c.Ask(q); err != nil {
		return "", err
	}
	select {
	case typed := <-c.Read():
		c.Take()
		return typed.Text, typed.Err
	case <-done:
		c.Withdraw()
		return "", ErrInterrupted
	}
}

// Withdraw takes back the question: an editor ends, and the terminal is as it was before. A line
// that is being read elsewhere is the answer to the next question.
func (c *Console) Withdraw() {
	if c == nil || c.editor == nil {
		return
	}
	c.editor.Send(withdrawn{})
	<-c.lines
	c.Take()
}

// Remember adds earlier messages of the person to the history, the oldest first.
func (c *Console) Remember(messages []string) {
	for _, m := range messages {
		if FitsEditor(m) {
			c.history = append(c.history, m)
		}
	}
}

// Say writes text.
func (c *Console) Say(text string) error {
	_, err := io.WriteString(c.process.Stdout, text)
	return Written(err)
}

// Interrupt sends this process the signal that a terminal sends for Ctrl-C outside of an editor.
func Interrupt() error { return unix.Kill(unix.Getpid(), unix.SIGINT) }

// Written adds the context of a failed write to an error. It returns nil for nil.
func Written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// drop discards what a person typed before a question appeared, because it cannot be an answer to
// the question.
func (c *Console) drop() {
	file, ok := c.process.Stdin.(*os.File)
	if !ok || !cli.IsTerminal(file) {
		return
	}
	flushInput(file)
	select {
	case <-c.lines:
		c.Take()
	default:
	}
}

// edit starts the editor of the answer. Its goroutine ends with the answer, or with Withdraw, which
// waits for it.
func (c *Console) edit() {
	q := c.asked
	c.editor = tea.NewProgram(newEditor(q, c.history), tea.WithInput(c.file), tea.WithOutput(c.process.Stdout),
		tea.WithEnvironment(environment(c.process.Getenv)), tea.WithoutSignalHandler())
	program := c.editor
	go func() { // ends with the editor; who closes the console waits
		last, err := program.Run()
		e, ok := last.(*editor)
		if err != nil || !ok {
			c.lines <- Typed{Err: fmt.Errorf("editing at the terminal: %w", err)}
			return
		}
		typed := e.typed
		// The editor removed its lines. What the person answered stays on the screen as plain lines.
		shown := q.Prompt + strings.ReplaceAll(cli.Visible(typed.Text), "\n", "\n  ")
		var lines []string
		for line := range strings.SplitSeq(shown, "\n") {
			lines = append(lines, cli.Wrap(line, e.wide)...)
		}
		if err := c.Say(strings.Join(lines, "\n") + "\n"); err != nil && typed.Err == nil {
			typed.Err = err
		}
		if q.Message && typed.Err == nil && strings.TrimSpace(typed.Text) != "" {
			c.history = append(c.history, typed.Text) // the receive orders this before the next use
		}
		c.lines <- typed
	}()
}

// environment returns the variables that say what a terminal can do.
func environment(getenv func(string) string) []string {
	var list []string
	for _, name := range []string{
		"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM_PROGRAM", "TMUX", "STY", "SSH_TTY", "WT_SESSION", "COLUMNS", "LINES",
	} {
		if value := getenv(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}
