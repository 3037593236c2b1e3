package responses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// A response with more items than any model makes is malformed, also if they are in one event.
func TestTooManyItems(t *testing.T) {
	var items []string
	for i := range model.MostCalls + 1 {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"i%d","call_id":"c%d","name":"echo","arguments":"{}"}`, i, i))
	}
	body := `data: {"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") + "]}}\n\n"
	failed := wiretest.Failure(t, connect(t, wiretest.Serve(t, wiretest.Reply{Body: body})), wiretest.Hello())
	if !failed.Malformed || !strings.Contains(failed.Message, "more than 1000 items") {
		t.Errorf("it ended with %v", failed)
	}
}
