package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// addOffering adds an MCP server with resources and prompts.
func (h *toolhost) addOffering(t *testing.T, name, manifest string) {
	t.Helper()
	folder := filepath.Join(h.plugins, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(bin, "conformserver"), filepath.Join(folder, "conformserver")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "plugin.yaml"), "mcp: {command: [./conformserver]"+manifest+"}\n", 0o600)
}

// Callers list and read the resources and prompts of an MCP server, directly and as MCP clients of
// both versions.
func TestResourcesOfMCPServers(t *testing.T) {
	h := prepare(t)
	h.addOffering(t, "data", "")
	write(t, filepath.Join(h.home, "toolhost.yaml"), "policy: {rules: [{name: all, when: 'true', then: allow}]}\n", 0o600)
	h.serve(t)
	c, err := client.Dial(h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resources, err := c.ListResources(t.Context(), tool.ResourceQuery{})
	if err != nil || len(resources.Resources) != 3 || resources.Resources[0].Plugin != "data" {
		t.Fatalf("%+v, %v", resources, err)
	}
	read, err := c.ReadResource(t.Context(), tool.ResourceRead{URI: "test://template/7/data"})
	if err != nil || !strings.Contains(read.Parts[0].Content.Text, "Data for ID: 7") {
		t.Fatalf("%+v, %v", read, err)
	}
	if _, err := c.ReadResource(t.Context(), tool.ResourceRead{URI: "test://nothing"}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an unknown URI: %v", err)
	}
	prompt, err := c.GetPrompt(t.Context(), tool.PromptRequest{Name: "test_prompt_with_arguments", Arguments: map[string]string{"arg1": "one-31", "arg2": "two"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.Text, "one-31") {
		t.Fatalf("%+v, %v", prompt, err)
	}
	completion, err := c.CompleteArgument(t.Context(), tool.CompletionRequest{Prompt: "test_prompt_with_arguments", Argument: "arg1", Value: "par"})
	if err != nil || len(completion.Values) == 0 {
		t.Errorf("%+v, %v", completion, err)
	}
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) { h.testResourcesOverMCP(t, version) })
	}
}

func (h *toolhost) testResourcesOverMCP(t *testing.T, version string) {
	changed := make(chan struct{}, 10)
	c := h.mcpServe(t, version, &mcp.ClientOptions{PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { changed <- struct{}{} }})
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://static-binary"})
	if err != nil || len(read.Contents) != 1 || read.Contents[0].MIMEType != "image/png" || len(read.Contents[0].Blob) == 0 {
		t.Fatalf("%+v, %v", read, err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), &mcp.ListResourceTemplatesParams{})
	text, _ := json.Marshal(templates)
	if err != nil || !strings.Contains(string(text), "test://template/{id}/data") || strings.Contains(string(text), "{+uri}") {
		t.Errorf("%s, %v", text, err)
	}
	prompts, err := c.ListPrompts(t.Context(), &mcp.ListPromptsParams{})
	if err != nil || len(prompts.Prompts) < 4 {
		t.Fatalf("%+v, %v", prompts, err)
	}
	got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "test_prompt_with_embedded_resource", Arguments: map[string]string{"resourceUri": "test://x"}})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(got); !strings.Contains(string(text), `"resource":{"uri":"test://x"`) {
		t.Errorf("an embedded resource: %s", text)
	}
	<-changed // the list is new to the client
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Errorf("subscribing: %v", err)
	}
	if err := c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Errorf("ending the subscription: %v", err)
	}
}

// Of two servers that list the same URI, neither can answer in place of the other one.
func TestServersCannotTakeEachOthersURIs(t *testing.T) {
	h := prepare(t)
	h.addOffering(t, "one", ", prefix: one_")
	h.addOffering(t, "two", ", prefix: two_")
	h.serve(t)
	c, err := client.Dial(h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, uri := range []string{"test://static-text", "test://template/7/data"} {
		_, err := c.ReadResource(t.Context(), tool.ResourceRead{URI: uri})
		if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "one, two") {
			t.Errorf("reading %s without a plugin: %v", uri, err)
		}
		read, err := c.ReadResource(t.Context(), tool.ResourceRead{Plugin: "two", URI: uri})
		if err != nil || read.Plugin != "two" {
			t.Errorf("reading %s of two: %+v, %v", uri, read, err)
		}
	}
	prompt, err := c.GetPrompt(t.Context(), tool.PromptRequest{Name: "two_test_simple_prompt"})
	if err != nil || prompt.Plugin != "two" {
		t.Errorf("a prompt with a prefix: %+v, %v", prompt, err)
	}
	over := h.mcpServe(t, mcpVersions[1], nil)
	listed, err := over.ListResources(t.Context(), &mcp.ListResourcesParams{})
	if err != nil || len(listed.Resources) != 6 {
		t.Fatalf("%+v, %v", listed, err)
	}
	for _, r := range listed.Resources {
		if !strings.HasPrefix(r.URI, "toolhost://resource/") {
			t.Errorf("an ambiguous resource is offered as %s", r.URI)
		}
	}
	read, err := over.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "toolhost://resource/one/test%3A%2F%2Fstatic-text"})
	if err != nil || !strings.Contains(read.Contents[0].Text, "static text") {
		t.Errorf("%+v, %v", read, err)
	}
}
