package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// pace is the pause between the pieces of a slow result.
const pace = 2 * time.Millisecond

// Payload returns the content of a large result of n bytes: letters without a period, so that lost,
// doubled and exchanged pieces are noticed.
func Payload(n int) []byte {
	payload := make([]byte, n)
	for i := range payload {
		payload[i] = 'a' + byte((i+i/251+i/65521)%26)
	}
	return payload
}

// large returns a result of n bytes of a kind: text, json or file.
func large(kind string, n int) (tool.Result, error) {
	var content tool.Content
	switch kind {
	case "text":
		content = tool.Text(string(Payload(n)))
	case "json": // a string, quoted
		payload := Payload(n)
		payload[0], payload[n-1] = '"', '"'
		content = tool.JSON(json.RawMessage(payload))
	case "file":
		content = tool.File("large", "application/octet-stream", Payload(n))
	default:
		return tool.Result{}, fmt.Errorf("a result of kind %q is not known", kind)
	}
	return tool.Result{Content: []tool.Content{content}}, nil
}

// drip sends single bytes, each as a log record, until the call is cancelled; if the text is
// "deaf", even after that.
func drip(ctx context.Context, call *pluginwire.ServerCall, r request) (tool.Result, error) {
	deaf := r.Text == "deaf"
	if deaf {
		ctx = context.WithoutCancel(ctx)
	}
	for i := 0; ctx.Err() == nil; i++ {
		letter := string(rune('a' + i%26))
		if err := call.Send(ctx, tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: letter}}); err != nil && !deaf {
			return tool.Result{}, err
		}
		time.Sleep(pace)
	}
	return tool.Result{}, ctx.Err()
}

// awaitFile reports that it waits, and returns when the file that the text names exists.
func awaitFile(ctx context.Context, call *pluginwire.ServerCall, r request) (tool.Result, error) {
	if err := call.Send(ctx, tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "waiting"}}); err != nil {
		return tool.Result{}, err
	}
	for {
		if _, err := os.Stat(r.Text); !errors.Is(err, fs.ErrNotExist) {
			return tool.TextResult("it came"), err
		}
		select {
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		case <-time.After(pace):
		}
	}
}
