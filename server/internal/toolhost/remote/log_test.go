package remote_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/remote"
)

// A session that sends lines without pause gets some of them through. The number of the others is
// reported once a second, not before each line that is logged, and at the end.
func TestDroppedLinesAreReportedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		l := remote.NewLog(remote.LogConfig{
			Logger: slog.New(slog.NewTextHandler(&logged, nil)), LineBytes: 100, LinesPerSecond: 10,
			Redact: func(line string, _, _ bool) string { return line },
		})
		for range 250 { // 100 lines a second
			if _, err := l.Write([]byte("line\n")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if lines, reports := strings.Count(logged.String(), "msg=line"), strings.Count(logged.String(), "dropped="); lines < 30 || reports != 3 {
			t.Errorf("%d lines and %d reports in 2.5 s, want some 34 and 3:\n%s", lines, reports, &logged)
		}
		l.Close()
		if reports := strings.Count(logged.String(), "dropped="); reports != 4 {
			t.Errorf("%d reports after the end, want 4:\n%s", reports, &logged)
		}
	})
}
