package process

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// A record of slog's text form is parsed, not logged as a message.
func TestRecordsKeepTheirLevel(t *testing.T) {
	var printed bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&printed, &slog.HandlerOptions{Level: slog.LevelDebug}))
	logger.Warn("it is \"late\"", "call_id", "c-7", "why", "a=b c", "empty", "")
	logger.Debug("short")
	logger.Error("")
	for i, want := range []string{
		`WARN it is "late" [call=c-7 fields=map[empty: why:a=b c]]`,
		`DEBUG short []`,
		`ERROR  []`,
	} {
		line := strings.Split(printed.String(), "\n")[i]
		r := parseRecord(line)
		if got := fmt.Sprintf("%v %s %v", r.level, r.message, r.attrs); got != want {
			t.Errorf("%s\nis %s\nwant %s", line, got, want)
		}
	}
	for _, line := range []string{
		"time=", "time=now", "time=now level=WARN", "time=now msg=x level=WARN", "time=now level=WARN msg=x y", `time=now level=WARN msg="x`,
		`time=now level=WARN msg="x"y`, "time=now level=WARN msg=x =y", "times=now level=WARN msg=x", `time=now level=WARN msg=x" a=b`,
	} {
		if r := parseRecord(line); r.message != line || r.level != slog.LevelInfo || r.attrs != nil {
			t.Errorf("%s is taken for %+v", line, r)
		}
	}
}
