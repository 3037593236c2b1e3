package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolhost/toolhost/internal/cli"
)

// console is a person who reads standard output and writes lines to standard input. It is for one goroutine.
type console struct {
	tty     io.Reader // what in reads
	in      *bufio.Reader
	out     io.Writer
	lines   chan typed // room for the one line that is being read
	reading bool
	echoes  bool // the end of a line that was typed is on the screen
}

// typed is a line that somebody wrote, without its end. err is io.EOF when nobody writes any more.
type typed struct {
	text string
	err  error
}

func newConsole(p cli.Process) *console {
	return &console{tty: p.Stdin, in: bufio.NewReader(p.Stdin), out: p.Stdout, lines: make(chan typed, 1), echoes: cli.IsTerminal(p.Stdin)}
}

// read returns where the next line comes. Nothing is read before it is called, and no more than one line for each line
// that is taken; take says that it was.
func (c *console) read() <-chan typed {
	if !c.reading {
		c.reading = true
		// It ends with the line, or with the input. Reading a terminal cannot be cancelled: whoever leaves while nobody
		// has written anything leaves it to the end of the process.
		go func() {
			text, err := c.in.ReadString('\n')
			if text != "" {
				err = nil // the next read reports it
			}
			c.lines <- typed{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	return c.lines
}

// take says that the line that was being read has been received.
func (c *console) take() { c.reading = false }

// say writes a prompt, after which somebody may type.
func (c *console) say(prompt string) error {
	_, err := io.WriteString(c.out, prompt)
	return written(err)
}

func written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// drop throws away what was typed at a terminal and nobody has taken: it cannot be an answer to what is asked only now.
func (c *console) drop() {
	file, ok := c.tty.(*os.File)
	if !ok || !cli.IsTerminal(file) {
		return
	}
	flushInput(file)
	select {
	case <-c.lines:
		c.take()
	default:
	}
}
