package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

func TestLastLine(t *testing.T) {
	long := strings.Repeat("ü", 200)
	for _, test := range []struct {
		chunks []string
		want   string
	}{
		{[]string{"a\n", "b\n"}, "b"},
		{[]string{"half a", " line"}, "half a line"},
		{[]string{"done\n\n  \n"}, "done"},
		{[]string{"10%\r20%\r"}, "20%"},
		{[]string{"\x1b[2K\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\a\n"}, "red text"},
		{[]string{"a\tb\n"}, "a b"},
		{[]string{"first\n", "\x1b[0m\n"}, "first"},
		{[]string{"\xff\xfe\n"}, "\uFFFD"},
		{[]string{long + "\n"}, strings.Repeat("ü", maxMessage-1) + "…"},
		{[]string{strings.Repeat("x", 100_000), "\nend"}, "end"},
	} {
		tell := newTeller()
		show := tell.stream()
		total := 0
		for _, chunk := range test.chunks {
			show([]byte(chunk))
			total += len(chunk)
		}
		if tell.line != test.want || tell.bytes != int64(total) {
			t.Errorf("%.60q: got %q, %d bytes", test.chunks, tell.line, tell.bytes)
		}
	}
}

// New output is reported immediately, but not more often than tellInterval.
func TestTellingIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tell := newTeller()
		show := tell.stream()
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		begin := time.Now()
		var telling sync.WaitGroup
		telling.Go(func() {
			tell.tell(ctx, func(_ context.Context, s sdk.Status) {
				told = append(told, fmt.Sprintf("%v %s", time.Since(begin), s.Message))
			})
		})
		for i := range 80 {
			show(fmt.Appendf(nil, "line %d\n", i))
			time.Sleep(7 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		cancel()
		telling.Wait()
		if got := strings.Join(told, ", "); got != "0s line 0, 250ms line 35, 500ms line 71, 750ms line 79" {
			t.Errorf("got %s", got)
		}
	})
}
