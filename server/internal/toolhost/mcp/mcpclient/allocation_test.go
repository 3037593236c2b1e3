//go:build !race

package mcpclient

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// TestAllocationOfAMessage bounds what toolhost allocates for a large answer, in bytes for each
// byte of the message: the pieces, the joined line, and the result. It is not built with the race
// detector, which allocates at random.
func TestAllocationOfAMessage(t *testing.T) {
	const size, most = 2 << 20, 4.7
	numbers := strings.Repeat("1,", size/4) + "1"
	for _, test := range []struct{ name, result string }{
		{"text", `{"content":[{"type":"text","text":"` + strings.Repeat("a", size) + `"}]}`},
		{"escapes", `{"content":[{"type":"text","text":"` + strings.Repeat(`a\n`, size/3) + `"}]}`},
		{"structured", `{"structuredContent":{"list":[` + strings.Repeat("[],", size/3) + `[]]}}`},
		{"repeated", `{"content":[{"type":"text","text":"{\"list\": [` + numbers + `]}"}],"structuredContent":{"list":[` + numbers + `]}}`},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(make([]byte, size/4*3)) + `"}]}`},
		{"metadata", `{"content":[{"type":"text","text":"ok","_meta":{"list":[` + strings.Repeat("[],", size/3) + `[]]}}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := script(t, false, func(c *Config) { c.MaxResultBytes = 2 * size })
			call, m := s.call(t, pluginconn.Start{})
			message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, test.result)
			line := []byte(message + "\n")
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = s.out.Write(line)
			ev, err := call.Next(t.Context())
			runtime.ReadMemStats(&after)
			if err != nil || ev.Ended == nil || ev.Ended.Err != nil || len(ev.Ended.Result.Content) != 1 {
				t.Fatalf("the call ended with %v, %v", ev, err)
			}
			each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(line))
			t.Logf("%.2f bytes for each byte", each)
			if each > most {
				t.Errorf("%.2f bytes are allocated for each byte of the message, want at most %.1f", each, most)
			}
		})
	}
}

// TestAllocationOfStructuredContent checks the same where the SDK reads the result: it does not
// decode structured content, and does not change it.
func TestAllocationOfStructuredContent(t *testing.T) {
	const size, most = 2 << 20, 27
	structured := `{"list":[` + strings.Repeat("[],", size/3) + `[]],"a":12345678901234567890,"b":"<"}`
	for _, meta := range []string{"", `"_meta":{"toolhost/structured":"no JSON"},`} {
		s := script(t, false, func(c *Config) { c.MaxResultBytes = 2 * size })
		call, m := s.call(t, pluginconn.Start{Answers: []tool.QuestionKind{tool.QuestionPerson}})
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{%s"content":[],"structuredContent":%s}}`+"\n", m.ID, meta, structured)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = s.out.Write(line)
		ev, err := call.Next(t.Context())
		runtime.ReadMemStats(&after)
		if err != nil || ev.Ended == nil || ev.Ended.Err != nil || len(ev.Ended.Result.Content) != 1 || string(ev.Ended.Result.Content[0].JSON) != structured {
			t.Fatalf("the call ended with %.200v, %v", ev.Ended, err)
		}
		each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(line))
		t.Logf("%.2f bytes for each byte", each)
		if each > most {
			t.Errorf("%.2f bytes are allocated for each byte of the message, want at most %d", each, most)
		}
	}
}
