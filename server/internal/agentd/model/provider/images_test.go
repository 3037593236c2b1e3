package provider_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// answers are complete responses, in the forms of the APIs.
var answers = map[string]string{
	"openai": "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	"openai-responses": "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[" +
		"{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}]}}\n\n",
	"anthropic": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"gemini": "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}]}\n\n",
}

// One image that a server refuses does not break the conversation: a note takes its place, in the
// request that follows at once and in later ones (claude-code#57323, #56016, paseo#700). Images
// that the server has accepted before stay.
func TestARefusedImage(t *testing.T) {
	good, bad := []byte("an image that was accepted"), []byte("an image that is refused")
	attached := func(data []byte) model.Block {
		return model.Block{Attachment: &model.Attachment{Name: "photo.png", MIMEType: "image/png", Data: data}}
	}
	resulting := func(data []byte) model.Block {
		return model.Block{ToolResult: &model.ToolResult{ID: "c1", Name: "see", Content: []tool.Content{{Kind: tool.ContentImage, MediaType: "image/png", Data: data}}}}
	}
	user := func(blocks ...model.Block) model.Message { return model.Message{Role: model.RoleUser, Blocks: blocks} }
	assistant := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{
		{Text: &model.Text{Text: "ok"}}, {ToolCall: &model.ToolCall{ID: "c1", Name: "see", Arguments: "{}"}},
	}}
	text := model.Block{Text: &model.Text{Text: "what is it?"}}
	for name, test := range map[string]struct {
		messages []model.Message
		refusals int
		keeps    bool // the good image
	}{
		"of the user":          {[]model.Message{user(attached(good)), assistant, user(resulting(nil), text, attached(bad))}, 1, true},
		"of a tool":            {[]model.Message{user(attached(good)), assistant, user(resulting(bad))}, 1, true},
		"of an earlier turn":   {[]model.Message{user(attached(bad), attached(good)), assistant, user(resulting(nil), text)}, 1, false},
		"more than the newest": {[]model.Message{user(attached(good)), assistant, user(resulting(nil), text, attached(bad))}, 2, false},
	} {
		for api := range answers {
			t.Run(name+" "+api, func(t *testing.T) {
				refusal := wiretest.Reply{Status: 400, Body: fmt.Sprintf(bodies[api], 400, "Could not process image")}
				replies := []wiretest.Reply{refusal, refusal}[:test.refusals]
				server := wiretest.Serve(t, append(replies, wiretest.Reply{Body: answers[api]})...)
				m, err := provider.Open(provider.Choice{Model: api + ":m", BaseURL: server.URL, HTTPClient: server.Client})
				if err != nil {
					t.Fatal(err)
				}
				before := fmt.Sprint(test.messages)
				for range 2 {
					if got := wiretest.Transcript(t, m.Generate(t.Context(), model.Request{Messages: test.messages})); !strings.Contains(got, "end_turn") {
						t.Fatalf("got\n%s", got)
					}
				}
				if fmt.Sprint(test.messages) != before {
					t.Error("the conversation of the caller was changed")
				}
				requests := server.Requests()
				if len(requests) != test.refusals+2 {
					t.Fatalf("%d requests", len(requests))
				}
				if !has(requests[0].Body, bad) || !has(requests[0].Body, good) {
					t.Error("the first request has not all images")
				}
				for _, r := range requests[test.refusals:] {
					if has(r.Body, bad) || has(r.Body, good) != test.keeps || !bytes.Contains(r.Body, []byte("(image/png, 24 bytes) was left out")) {
						t.Errorf("a later request is %s", r.Body)
					}
				}
			})
		}
	}
}

// A server that refuses the request for its images although it has none gets it once.
func TestARefusalWithoutAnImage(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: fmt.Sprintf(bodies["openai"], 400, "Could not process image")})
	m, err := provider.Open(provider.Choice{Model: "openai:m", BaseURL: server.URL, HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	if got := wiretest.Failure(t, m, wiretest.Hello()); !got.RefusedImage || len(server.Requests()) != 1 {
		t.Errorf("got %v after %d requests", got, len(server.Requests()))
	}
}

func has(body, image []byte) bool {
	return bytes.Contains(body, []byte(base64.StdEncoding.EncodeToString(image)))
}
