package wiretest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// RefusesAttachments checks that a model refuses attachments that its API does not accept, before
// it sends a request. A model that left one out would answer as if it had read it.
func RefusesAttachments(t *testing.T, connect Connect, refused ...string) {
	attached := func(mimeType, data string) model.Block {
		return model.Block{Attachment: &model.Attachment{Name: "x.dat", MIMEType: mimeType, Data: []byte(data)}}
	}
	check := func(t *testing.T, last model.Block, words string) {
		t.Helper()
		server := Serve(t, Reply{})
		m := connect(t, server)
		first := attached("image/png", "png")
		if !model.FeaturesOf(m).Accepts(first.Attachment.MIMEType) {
			t.Fatalf("the model does not read %s", first.Attachment.MIMEType)
		}
		request := Hello()
		request.Messages[0].Blocks = append(request.Messages[0].Blocks, first, last)
		got := Failure(t, m, request)
		if got.Retryable || got.Unusable || !strings.Contains(got.Message, words) || !strings.Contains(got.Message, "x.dat") {
			t.Errorf("the error is %+v, want %q", got, words)
		}
		if n := len(server.Requests()); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	}
	for _, mimeType := range append(refused, "application/zip", "application/octet-stream", "image/tiff", "") {
		t.Run("type "+mimeType, func(t *testing.T) {
			check(t, attached(mimeType, "x"), fmt.Sprintf("does not accept attachments of the type %q", mimeType))
		})
	}
	t.Run("without content", func(t *testing.T) { check(t, attached("image/png", ""), "has no content") })
}
