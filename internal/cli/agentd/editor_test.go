package agentd

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/term"

	"github.com/toolhost/toolhost/internal/cli/terminal"
)

// The editor turns the bytes of keys and pastes into whole messages.
func TestMessagesAreEdited(t *testing.T) {
	for name, test := range map[string]struct {
		keys string
		want []string
	}{
		"one line":               {"hi\r", []string{"hi"}},
		"a paste of three lines": {"see: \x1b[200~a\rb\rc\x1b[201~ end\r", []string{"see: a\nb\nc end"}},
		"a paste that ends":      {"\x1b[200~a\rb\r\x1b[201~\r", []string{"a\nb\n"}},
		"a pasted backslash":     {"\x1b[200~a\\\rb\x1b[201~\r", []string{"a\\\nb"}},
		"two lines that belong":  {"one\\\rtwo\rthree\r", []string{"one\ntwo", "three"}},
		"arrow keys":             {"ac\x1b[Db\r", []string{"abc"}},
		"a paste of CR LF":       {"\x1b[200~a\r\nb\n\x1b[201~\r", []string{"a\nb\n"}},
		"history":                {"first\rsecond\r\x1b[A\x1b[A\r", []string{"first", "second", "first"}},
		"Ctrl-C":                 {"half\x03", nil},
		"Ctrl-D":                 {"x\r\x04", []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := term.NewTerminal(struct {
				io.Reader
				io.Writer
			}{&terminal.PasteReader{In: iotest.OneByteReader(strings.NewReader(test.keys))}, io.Discard}, terminal.PromptMessage)
			lines.SetBracketedPasteMode(true)
			var got []string
			for {
				message := terminal.ReadMessage(lines)
				if message.Err != nil {
					break
				}
				got = append(got, message.Text)
			}
			if strings.Join(got, "|") != strings.Join(test.want, "|") || len(got) != len(test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
