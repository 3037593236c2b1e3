package operate

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// A CI system can leave standard input open. The call must not hang, and must not run without its
// arguments.
func TestAPipeThatNeverEndsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stdin, writer := io.Pipe()
		begun := time.Now()
		_, err := readArguments(t.Context(), stdin, stdinPatience)
		if cli.CodeOf(err) == cli.ExitOK || err == nil || !strings.Contains(err.Error(), "write '{}' for none, or - to wait") || time.Since(begun) != stdinPatience {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		writer.Close()
	})
}

// The command waits for a program that writes its arguments slowly.
func TestArgumentsThatBeganAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stdin, writer := io.Pipe()
		go func() {
			for _, part := range []string{`{"a"`, `:1`, `}`} {
				time.Sleep(stdinPatience - time.Second)
				_, _ = io.WriteString(writer, part)
			}
			writer.Close()
		}()
		data, err := readArguments(t.Context(), stdin, stdinPatience)
		if string(data) != `{"a":1}` || err != nil {
			t.Errorf("%s, %v", data, err)
		}
	})
}

func TestReadingArgumentsIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stdin, writer := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := readArguments(ctx, stdin, 0); err == nil {
			t.Error("no error")
		}
		writer.Close()
	})
}

func TestTakesArguments(t *testing.T) {
	for schema, want := range map[string]bool{
		``: false, `{"type":"object","properties":{},"additionalProperties":false}`: false, `{"type":"object"}`: true,
		`{"properties":{"a":{}},"additionalProperties":false}`: true, `{"additionalProperties":{"type":"string"}}`: true,
	} {
		if got := takesArguments([]byte(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
