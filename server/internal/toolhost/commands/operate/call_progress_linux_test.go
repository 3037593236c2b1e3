package operate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// The line with the progress of a call is shown in a terminal only, and nothing of it remains.
func TestProgressIsErased(t *testing.T) {
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
		err = unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 40, Row: 24})
	}
	if err != nil {
		t.Fatal(err)
	}
	screen := open(fmt.Sprintf("/dev/pts/%d", number))
	env := map[string]string{"TERM": "xterm"}
	p := cli.Process{Stderr: screen, Getenv: func(name string) string { return env[name] }}
	line := newProgressLine(p)
	if line == nil {
		t.Fatal("a terminal shows no progress")
	}
	line.show(tool.Event{Status: &tool.Status{Message: "reading " + strings.Repeat("x", 100)}})
	line.clear()
	line.clear() // erases nothing twice
	got := ""
	for strings.Count(got, eraseLine) < 2 { // a read may return only what one write has delivered
		shown := make([]byte, 4096)
		n, err := keyboard.Read(shown)
		if err != nil {
			t.Fatal(err)
		}
		got += string(shown[:n])
	}
	middle, erased := strings.CutPrefix(got, eraseLine)
	middle, last := strings.CutSuffix(middle, eraseLine)
	if !erased || !last || !strings.Contains(middle, "reading xxx") || len(middle) > 45 || strings.Contains(middle, eraseLine) {
		t.Errorf("the terminal got %q", got)
	}
	if env["TERM"] = "dumb"; newProgressLine(p) != nil {
		t.Error("a dumb terminal gets a line that it cannot erase")
	}
	p.Stderr, env["TERM"] = &strings.Builder{}, "xterm"
	if newProgressLine(p) != nil {
		t.Error("output that is not a terminal gets a line that it cannot erase")
	}
}
