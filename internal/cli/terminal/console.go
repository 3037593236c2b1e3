package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolhost/toolhost/internal/cli"
)

// console is a person who reads standard output and writes lines to standard input. It is for one goroutine.
type Console struct {
	tty     io.Reader // what in reads
	In      *bufio.Reader
	out     io.Writer
	lines   chan Typed // room for the one line that is being read
	Reading bool
	Echoes  bool // the end of a line that was typed is on the screen
}

// typed is a line that somebody wrote, without its end. err is io.EOF when nobody writes any more.
type Typed struct {
	Text string
	Err  error
}

func NewConsole(p cli.Process) *Console {
	return &Console{tty: p.Stdin, In: bufio.NewReader(p.Stdin), out: p.Stdout, lines: make(chan Typed, 1), Echoes: cli.IsTerminal(p.Stdin)}
}

// read returns where the next line comes. Nothing is read before it is called, and no more than one line for each line
// that is taken; take says that it was.
func (c *Console) Read() <-chan Typed {
	if !c.Reading {
		c.Reading = true
		// It ends with the line, or with the input. Reading a terminal cannot be cancelled: whoever leaves while nobody
		// has written anything leaves it to the end of the process.
		go func() {
			text, err := c.In.ReadString('\n')
			if text != "" {
				err = nil // the next read reports it
			}
			c.lines <- Typed{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	return c.lines
}

// take says that the line that was being read has been received.
func (c *Console) Take() { c.Reading = false }

// say writes a prompt, after which somebody may type.
func (c *Console) Say(prompt string) error {
	_, err := io.WriteString(c.out, prompt)
	return Written(err)
}

func Written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// drop throws away what was typed at a terminal and nobody has taken: it cannot be an answer to what is asked only now.
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
