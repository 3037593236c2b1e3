package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// process is a row of a list of processes, whose age changes by itself.
func process(id, state, age string) terminal.Row {
	type value struct{ ID, State string }
	return terminal.Row{
		Key: id, Cells: []string{id, state, age}, Value: value{id, state}, Mark: state,
		Gone: []string{id, "exited", age}, GoneValue: value{id, "exited"},
	}
}

// lists are a list as it changes.
var lists = [][]terminal.Row{
	{},
	{process("a", "ready", "1s"), process("long-name", "ready", "1s")},
	{process("a", "ready", "2s"), process("long-name", "stopping", "2s")},
	{process("a", "ready", "3s"), {Key: "run", Cells: []string{"run", "new", "0s"}, Mark: "new"}},
	{process("a", "ready", "4s")},
}

func TestChangesAtAPipe(t *testing.T) {
	var out, objects bytes.Buffer
	size := func() (int, int) { return 0, 0 }
	text := terminal.Changes{To: &out, Header: []string{"ID", "STATE", "AGE"}, Size: size}
	asJSON := terminal.Changes{To: &objects, JSON: true, Header: text.Header, Size: func() (int, int) { return 80, 24 }}
	for _, rows := range lists {
		if err := errors.Join(text.Show(rows), asJSON.Show(rows)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(text.End(), asJSON.End()); err != nil {
		t.Fatal(err)
	}
	want := `ID         STATE  AGE
a          ready  1s
long-name  ready  1s
long-name  stopping  2s
run        new     0s
long-name  exited  2s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = `{"ID":"a","State":"ready"}
{"ID":"long-name","State":"ready"}
{"ID":"long-name","State":"stopping"}
null
{"ID":"long-name","State":"exited"}
`
	if diff := cmp.Diff(want, objects.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// On a terminal, each table takes the place of the last one. After another width, it begins on an
// empty screen.
func TestChangesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	wide, high := 80, 24
	c := terminal.Changes{
		To: &out, Header: []string{"ID", "STATE", "AGE"}, Size: func() (int, int) { return wide, high },
		Screen: func() cli.Screen { return cli.Screen{Columns: wide} },
	}
	shown := func(rows []terminal.Row) string {
		t.Helper()
		out.Reset()
		if err := c.Show(rows); err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(terminal.CutLines, "", terminal.WrapLines, "").Replace(out.String())
	}
	if got, want := shown(lists[1]), "ID         STATE  AGE\na          ready  1s\nlong-name  ready  1s"; got != want {
		t.Errorf("the first table: %q", got)
	}
	if got := shown(lists[1]); !strings.HasPrefix(got, "\r\x1b[A\x1b[A\x1b[JID") {
		t.Errorf("the second table: %q", got)
	}
	wide = 40
	if got := shown(lists[1]); !strings.HasPrefix(got, "\x1b[H\x1b[2JID") {
		t.Errorf("after another width: %q", got)
	}
	high = 3
	if got := shown(lists[1]); !strings.HasSuffix(got, "\n… and 2 more") || strings.Count(got, "\n") != 1 {
		t.Errorf("on two lines: %q", got)
	}
	wide, high = 12, 24
	if got := shown(lists[1]); !strings.HasSuffix(got, "\nlong-name\nready  1s") {
		t.Errorf("on a narrow terminal: %q", got)
	}
	out.Reset()
	if err := errors.Join(c.End(), c.End()); err != nil || out.String() != "\n" {
		t.Errorf("the end is %q, %v", &out, err)
	}
}

func TestEvery(t *testing.T) {
	failed := errors.New("no server")
	for name, tt := range map[string]struct {
		fails int // the list that fails; 0: none
		want  error
	}{"interrupted": {0, nil}, "failed": {2, failed}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				began, asked := time.Now(), 0
				list := func(context.Context) (int, error) {
					if asked++; asked == tt.fails {
						return 0, failed
					}
					return asked, nil
				}
				var err error
				for n, problem := range terminal.Every(ctx, time.Second, list) {
					if err = problem; n == 3 {
						cancel()
					}
				}
				cancel()
				if !errors.Is(err, tt.want) || tt.fails == 0 && (asked != 3 || time.Since(began) != 2*time.Second) {
					t.Errorf("asked %d times in %v: %v", asked, time.Since(began), err)
				}
			})
		})
	}
}
