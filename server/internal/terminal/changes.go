package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Row is an item of a list that Changes shows.
type Row struct {
	Key   string // the same for the same item
	Cells []string
	Value any // the item for -o json
	// Mark is what has changed when the item has. Cells that change by themselves, such as an age, do
	// not belong to it.
	Mark string
	// Gone are the cells, and GoneValue is the item, to write after the item has left the list. nil:
	// nothing is written.
	Gone      []string
	GoneValue any
}

// Changes shows a list that is read again and again. On a terminal it draws the table again each
// time. Elsewhere it writes the header once, and then each row that is new or has changed, and each
// item that has left. It is for one goroutine.
type Changes struct {
	To     io.Writer
	JSON   bool // writes each changed item as an object, also on a terminal
	Header []string
	// Screen returns how the table may look, and Size the size of the terminal. A width of 0 is no
	// terminal.
	Screen func() cli.Screen
	Size   func() (wide, high int)

	block  Block
	at     [2]int // the size of the terminal that has the block
	last   []Row
	headed bool
}

// NewChanges returns Changes on standard output, with which a command that was told to end does not
// wait for a reader.
func NewChanges(ctx context.Context, p cli.Process, asJSON bool, header []string) *Changes {
	return &Changes{
		To: cli.UntilDone(ctx, p.Stdout), JSON: asJSON, Header: header,
		Screen: p.Screen, Size: func() (wide, high int) { return cli.TerminalSize(p.Stdout) },
	}
}

// Every returns what list returns, again and again, with a pause after each, until ctx ends or list
// fails.
func Every[T any](ctx context.Context, pause time.Duration, list func(context.Context) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			items, err := list(ctx)
			if ctx.Err() != nil || !yield(items, err) || err != nil || !cli.Wait(ctx, pause) {
				return
			}
		}
	}
}

// Show shows the list as it is now.
func (c *Changes) Show(rows []Row) error {
	if wide, high := c.Size(); wide > 0 && !c.JSON {
		return c.draw(rows, [2]int{wide, high})
	}
	before, now := byKey(c.last), byKey(rows)
	all, first := slices.Clone(rows), len(rows)
	for _, l := range c.last {
		if _, stays := now[l.Key]; l.Gone != nil && !stays {
			l.Cells, l.Value = l.Gone, l.GoneValue
			all = append(all, l)
		}
	}
	lines, err := c.lines(all, cli.Screen{})
	if err != nil {
		return err
	}
	for i, r := range all {
		if mark, known := before[r.Key]; i < first && known && mark == r.Mark {
			continue
		}
		if err := c.write(r, lines, i+1); err != nil {
			return err
		}
	}
	c.last = slices.Clone(rows)
	return nil
}

// byKey returns the marks of rows.
func byKey(rows []Row) map[string]string {
	all := make(map[string]string, len(rows))
	for _, r := range rows {
		all[r.Key] = r.Mark
	}
	return all
}

// write writes a row, which the table has as line i.
func (c *Changes) write(r Row, lines []string, i int) error {
	if c.JSON {
		return cli.WriteJSON(c.To, r.Value)
	}
	text := lines[i] + "\n"
	if !c.headed {
		text = lines[0] + "\n" + text
	}
	c.headed = true
	return c.send(text)
}

// draw replaces the table on the terminal. Nobody knows where the lines of the last table are after
// the terminal has got another width, so draw then clears the terminal.
func (c *Changes) draw(rows []Row, size [2]int) error {
	screen := c.Screen()
	lines, err := c.lines(rows, cli.Screen{Columns: screen.Columns})
	if slices.ContainsFunc(lines, func(line string) bool { return cli.Columns(line) > size[0] }) {
		var folded []string // the block cuts what is wider than the terminal
		for _, line := range lines {
			folded = append(folded, cli.Wrap(line, size[0])...)
		}
		lines = folded
	} else if err == nil && screen.Color {
		lines, err = c.lines(rows, screen)
	}
	if err != nil {
		return err
	}
	clear := ""
	if c.at != size && len(c.block.Drawn) > 0 {
		c.block.Drawn, clear = nil, "\x1b[H\x1b[2J"
	}
	c.at, c.block.Size = size, c.Size
	return c.send(clear + c.block.Above("", lines, false))
}

// lines returns the lines of a table. Without a screen, each row has one.
func (c *Changes) lines(rows []Row, screen cli.Screen) ([]string, error) {
	cells := make([][]string, 0, len(rows))
	for _, r := range rows {
		cells = append(cells, r.Cells)
	}
	var table bytes.Buffer
	err := cli.WriteTable(&table, screen, c.Header, cells)
	return strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n"), err
}

// End leaves the last table on the terminal, and the cursor below it.
func (c *Changes) End() error {
	if len(c.block.Drawn) == 0 {
		return nil
	}
	c.block.Drawn = nil
	return c.send("\n")
}

func (c *Changes) send(text string) error {
	if _, err := io.WriteString(c.To, text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
