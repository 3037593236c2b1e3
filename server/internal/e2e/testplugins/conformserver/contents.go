package main

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// picture is a PNG of one red pixel.
var picture = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")

// sound is a WAV file without samples.
var sound = decoded("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=")

func decoded(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

// schema2020 has keywords of JSON Schema 2020-12, which clients must get unchanged.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

// addContents adds the tools that return each kind of content.
func addContents(s *mcp.Server) {
	for name, r := range map[string]result{
		"test_simple_text":   text("This is a simple text response for testing."),
		"test_image_content": {Content: []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}}},
		"test_audio_content": {Content: []mcp.Content{&mcp.AudioContent{Data: sound, MIMEType: "audio/wav"}}},
		"test_embedded_resource": {Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}}}},
		"test_multiple_content_types": {Content: []mcp.Content{
			&mcp.TextContent{Text: "Multiple content types test:"},
			&mcp.ImageContent{Data: picture, MIMEType: "image/png"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`}},
		}},
		//lint:ignore ST1005 The suite demands this text.
		"test_error_handling": failed(errors.New("This tool intentionally returns an error for testing")),
	} {
		add(s, name, "Returns the content that its name says.", noArguments,
			func(context.Context, *mcp.CallToolRequest) (result, error) {
				copied := *r
				return &copied, nil
			})
	}
	add(s, "json_schema_2020_12_tool", "Has keywords of JSON Schema 2020-12.", schema2020,
		func(context.Context, *mcp.CallToolRequest) (result, error) { return text("valid"), nil })
	add(s, "test_tool_with_progress", "Reports its progress.", noArguments, progress)
	add(s, "test_x_mcp_header", "Has a parameter that clients repeat in a header.",
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`,
		func(_ context.Context, req *mcp.CallToolRequest) (result, error) {
			return text("in %s", argument(req, "region")), nil
		})
}

func progress(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if token == nil {
			break
		}
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
			return failed(err), nil
		}
	}
	return text("done"), nil
}
