package operate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Each further line of a traceback is marked as part of the line above, whatever a plugin writes.
func TestATracebackKeepsItsLines(t *testing.T) {
	line := tool.LogLine{Plugin: "weather", Instance: "weather-1", Record: tool.LogRecord{
		Time: time.Unix(0, 0), Level: tool.LogError,
		Message: "the tool failed\nTraceback (most recent call last):\n  File \"a.py\", line 7\r\nKeyError: 'x'\n",
		Attributes: map[string]json.RawMessage{
			"count": []byte(`7`), "forged": []byte(`"a\n2026-01-01 00:00:00.000  INFO   other-1  all is well\u001b[2J"`), "one": []byte(`"line\n"`),
		},
	}}
	want := []string{
		"error  weather-1  the tool failed", "    | Traceback (most recent call last):", `    |   File "a.py", line 7`, "    | KeyError: 'x'  count=7  one=\"line\\n\"",
		"    | forged:", "    | a", `    | 2026-01-01 00:00:00.000  INFO   other-1  all is well\x1b[2J`,
	}
	if got := LogText(line); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
