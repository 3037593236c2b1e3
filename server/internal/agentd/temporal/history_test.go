package temporal_test

import (
	"bytes"

	history "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

func containsText(h *history.History, text string) bool {
	data, err := proto.Marshal(h)
	return err != nil || bytes.Contains(data, []byte(text))
}
