package terminal_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// openTerminal returns the two ends of a pseudoterminal. The test types by writing to keyboard.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	open := func(path string) *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	keyboard = open("/dev/ptmx")
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keyboard, open(fmt.Sprintf("/dev/pts/%d", number))
}

// Each time, the terminal is as it was before, what was typed is there, and nothing was echoed.
func TestAheadReadsATerminal(t *testing.T) {
	keyboard, screen := openTerminal(t)
	state := func() unix.Termios {
		t.Helper()
		now, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *now
	}
	shown := make(chan string, 1)
	go func() { // ends when the terminal is closed
		all, _ := io.ReadAll(keyboard)
		shown <- string(all)
	}()
	before := state()
	a := terminal.NewConsole(cli.Process{Stdin: screen, Stdout: screen, Getenv: func(string) string { return "" }}).Ahead()
	for i, want := range [][]string{{"one"}, {"one", "two"}} {
		a.Start()
		a.Start()
		if now := state(); now == before || now.Lflag&unix.ISIG == 0 || now.Oflag != before.Oflag {
			t.Errorf("the terminal has the state %+v", now)
		}
		if _, err := io.WriteString(keyboard, want[i]+"\r"); err != nil {
			t.Fatal(err)
		}
		for messages, _ := a.Waiting(); len(messages) <= i; messages, _ = a.Waiting() {
			<-a.Changed()
		}
		a.Stop()
		a.Stop()
		if messages, _ := a.Waiting(); !slices.Equal(messages, want) || state() != before {
			t.Errorf("%q wait, and the terminal has the state %+v", messages, state())
		}
	}
	_ = screen.Close()
	if got := <-shown; got != "\x1b[?2004h\x1b[?2004l\x1b[?2004h\x1b[?2004l" {
		t.Errorf("the terminal shows %q", got)
	}
}
