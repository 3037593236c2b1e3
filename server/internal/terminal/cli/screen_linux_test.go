package cli_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// openTerminal returns the screen of a pseudoterminal with 80 columns.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	open := func(path string) *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	keyboard := open("/dev/ptmx")
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24})
	}
	if err != nil {
		t.Fatal(err)
	}
	return open(fmt.Sprintf("/dev/pts/%d", number))
}

// Output has colors only in a terminal that shows them, and only if the user did not refuse them.
func TestScreenHasColorsOnlyInATerminal(t *testing.T) {
	terminal := openTerminal(t)
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	for name, test := range map[string]struct {
		stdout *os.File
		env    map[string]string
		want   cli.Screen
	}{
		"a terminal":        {terminal, map[string]string{"TERM": "xterm-256color"}, cli.Screen{Columns: 80, Color: true}},
		"NO_COLOR":          {terminal, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, cli.Screen{Columns: 80}},
		"an empty NO_COLOR": {terminal, map[string]string{"NO_COLOR": ""}, cli.Screen{Columns: 80, Color: true}},
		"a dumb terminal":   {terminal, map[string]string{"TERM": "dumb"}, cli.Screen{Columns: 80}},
		"a pipe":            {pipe, map[string]string{"TERM": "xterm"}, cli.Screen{}},
	} {
		p := cli.Process{Stdout: test.stdout, Getenv: func(name string) string { return test.env[name] }}
		if got := p.Screen(); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
