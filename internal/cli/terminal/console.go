package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolhost/toolhost/internal/cli"
)

// Console reads lines that a person types and writes prompts. It is for one goroutine.
type Console struct {
	tty     io.Reader // the reader below In
	In      *bufio.Reader
	out     io.Writer
	lines   chan Typed // has capacity 1, for the line that is being read
	Reading bool
	Echoes  bool // the terminal shows the line feed that the person types
}

// Typed is a line that a person typed, without its end. Err is io.EOF at the end of the input.
type Typed struct {
	Text string
	Err  error
}

// NewConsole returns a console on standard input and output. It reads nothing before Read.
func NewConsole(p cli.Process) *Console {
	return &Console{tty: p.Stdin, In: bufio.NewReader(p.Stdin), out: p.Stdout, lines: make(chan Typed, 1), Echoes: cli.IsTerminal(p.Stdin)}
}

// Read returns the channel of the next line. Console reads input only after a call of Read, and one
// line at a time. After a receive, the caller calls Take.
func (c *Console) Read() <-chan Typed {
	if !c.Reading {
		c.Reading = true
		// The goroutine ends with the line or with the input. A read of a terminal cannot be
		// canceled. If the person types nothing, the goroutine ends with the process.
		go func() {
			text, err := c.In.ReadString('\n')
			if text != "" {
				err = nil // the next read returns the error again
			}
			c.lines <- Typed{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	return c.lines
}

// Take tells Console that the caller received the line.
func (c *Console) Take() { c.Reading = false }

// Say writes a prompt.
func (c *Console) Say(prompt string) error {
	_, err := io.WriteString(c.out, prompt)
	return Written(err)
}

// Written adds the context of a failed write to an error. It returns nil for nil.
func Written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// Drop discards what a person typed before a question appeared, because it cannot be an answer to
// the question.
func (c *Console) Drop() {
	file, ok := c.tty.(*os.File)
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
