package main

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/sdk"
)

const requestDescription = `Sends an HTTP request that may change something on a server: POST, PUT, PATCH or DELETE, with a body and headers, and returns the status and the content of the answer as fetch does. Use it to call APIs that want data; to only read, use fetch.
The Content-Type is application/json if the body is JSON and text/plain if not, unless a header says otherwise. Redirects are not followed: the answer then has the status and the location, and you decide. A status of 400 or more marks the result as an error and still has the content.
It is executed once and never tried again by itself: if it timed out, find out what became of it before you repeat it.`

type requestInput struct {
	URL     string            `json:"url" jsonschema:"the whole URL, with http:// or https:// and without user name and password" minLength:"8" maxLength:"8000"`
	Method  string            `json:"method" jsonschema:"the HTTP method" default:"POST" enum:"POST,PUT,PATCH,DELETE"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"request headers by name, such as {\"Authorization\": \"Bearer …\"}; those that concern the connection, cookies or the sender's identity are refused"`
	Body    string            `json:"body,omitempty" jsonschema:"the body, exactly as it is sent; JSON is written as text, such as \"{\\\"name\\\": \\\"x\\\"}\"" maxLength:"4000000"`
	options
}

// requestTool is a separate tool, because the declaration of a tool applies to all its calls. If
// fetch could also POST, either people would have to approve each page that a model reads, or a
// model could change data without approval.
func requestTool(s settings) sdk.Tool {
	client := s.newClient(false)
	return sdk.Func(sdk.Spec{
		Name:        "http_request",
		Version:     "1.0.0",
		DisplayName: "HTTP request",
		Description: requestDescription,
		Category:    "web",
		// what standing approvals may permit
		Metadata: map[string]json.RawMessage{"toolhost.arguments": json.RawMessage(`{"url":"url","body":"content"}`)},
		InputExamples: []sdk.InputExample{
			{Description: "create something by an API", Arguments: json.RawMessage(`{"url":"https://api.example.com/v1/items","body":"{\"name\":\"lamp\",\"price\":20}"}`)},
			{Description: "send a form", Arguments: json.RawMessage(`{"url":"https://example.com/search","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":"q=lamp&page=2"}`)},
			{Description: "remove something", Arguments: json.RawMessage(`{"url":"https://api.example.com/v1/items/7","method":"DELETE"}`)},
		},
		Timeout:   maxTimeout + fetchMargin,
		Dangerous: true,
	}, func(ctx context.Context, in requestInput) (sdk.Result, error) {
		return s.perform(ctx, client, request{method: in.Method, url: in.URL, headers: in.Headers, body: in.Body}, in.options)
	})
}
