//go:build mcp

package mcpofficial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// clientVariable is the variable that makes the test program the client of a scenario. Its value is
// the folder of the programs.
const clientVariable = "TOOLHOST_CONFORMANCE_CLIENT"

// The variables that the suite sets for a client.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	versionVariable  = "MCP_CONFORMANCE_PROTOCOL_VERSION"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
)

// conductClient runs the client scenarios of a version, and returns what the suite printed. The
// suite runs them all at once.
func conductClient(t *testing.T, bin, version, out string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	printed, err := run(t.Context(), out, version, asClient, []string{clientVariable + "=" + bin}, "--command", program, "--timeout", "120000")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return printed
}

// runClient is a program that uses the MCP server at a URL through a toolhost, as the scenario
// requires. It returns an exit code.
func runClient(url string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	if err := useServer(ctx, os.Getenv(clientVariable), url, os.Getenv(scenarioVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// plugin is the name of the MCP server of a scenario in its toolhost.
const plugin = "suite"

// useServer starts a toolhost with the server as its only plugin, and calls the tools of the
// server.
func useServer(ctx context.Context, bin, url, scenario string) error {
	home, err := shortFolder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	server := map[string]any{"url": url, "annotations": "trusted", "protocol": os.Getenv(versionVariable)}
	oauth, err := oauthOf(ctx, home, url, scenario)
	if err != nil {
		return err
	}
	if oauth != nil {
		server["oauth"] = oauth
	}
	manifest, err := json.Marshal(map[string]any{"mcp": server}) // JSON is YAML
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"plugins/" + plugin + "/plugin.yaml": string(manifest),
		"workspace/empty":                    "",
		"toolhost.yaml": fmt.Sprintf(`listen: unix://%[1]s/t.sock
plugins: [%[1]s/plugins]
state: %[1]s/state
workspace: %[1]s/workspace
new_plugins: allow
policy: {rules: [{name: all, when: "true", then: allow}]}
secrets: {secret: {plugins: [%[2]s], file: secret}, key: {plugins: [%[2]s], file: key}}
defaults: {ask: [person, model, roots], http: {addresses: [127.0.0.0/8, "::1/128"]}}
`, home, plugin),
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	h, err := serve(bin, home)
	if err != nil {
		return err
	}
	defer func() {
		h.stop()
		fmt.Fprintln(os.Stderr, h.log)
	}()
	c, err := client.Dial("unix://"+filepath.Join(home, "t.sock"), client.IgnoreEnvironment())
	if err != nil {
		return err
	}
	defer c.Close()
	if strings.HasPrefix(scenario, "auth/") {
		return useWithLogin(ctx, c)
	}
	tools, err := listed(ctx, c)
	if err != nil {
		return err
	}
	calls, err := callsOf(tools)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if err := perform(ctx, c, call); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the tools of the server. On a busy machine, toolhost starts before it has asked
// the server for them. A server of the suite without tools is one that has none after a while.
func listed(ctx context.Context, c *client.Client) ([]tool.Info, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		tools, err := c.ListTools(ctx, tool.Query{})
		if err != nil || len(tools) > 0 {
			return tools, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// callsOf returns the calls that a scenario wants: those that its context lists, or one of each
// tool.
func callsOf(tools []tool.Info) ([]tool.Call, error) {
	var wanted struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if text := os.Getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &wanted); err != nil {
			return nil, err
		}
	}
	var calls []tool.Call
	for _, w := range wanted.ToolCalls {
		calls = append(calls, tool.Call{Tool: w.Name, Arguments: w.Arguments})
	}
	if len(calls) > 0 {
		return calls, nil
	}
	for _, t := range tools {
		arguments, err := argumentsFor(t, tools)
		if err != nil {
			return nil, err
		}
		calls = append(calls, tool.Call{Tool: t.Spec.Name, Arguments: arguments})
	}
	return calls, nil
}

// argumentsFor returns arguments that a tool accepts: a value for each required property. A
// property with the name schema gets the schema of another tool, which the suite compares with its
// own.
func argumentsFor(t tool.Info, tools []tool.Info) (json.RawMessage, error) {
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(t.Spec.InputSchema, &schema); err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, name := range schema.Required {
		switch schema.Properties[name].Type {
		case "number", "integer":
			values[name] = len(values) + 5
		case "boolean":
			values[name] = true
		case "object":
			for _, other := range tools {
				if name == "schema" && other.Spec.Name != t.Spec.Name {
					values[name] = other.Spec.InputSchema
				}
			}
		default:
			values[name] = "a-text"
		}
	}
	if t.Spec.Name == "json_schema_2020_12_tool" {
		values["email"] = "a@example.com"
	}
	return json.Marshal(values)
}

// perform makes a call and answers its questions as a person does who accepts what is proposed.
func perform(ctx context.Context, c *client.Client, call tool.Call) error {
	call.Answers = []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel, tool.QuestionRoots}
	execution, err := c.Open(ctx, call, true)
	if err != nil {
		return err
	}
	defer execution.Close()
	for {
		event, err := execution.Next(ctx)
		switch {
		case err != nil:
			return err
		case event.Ended != nil:
			fmt.Printf("%s: %s, %v\n", call.Tool, event.Ended.Result.Text(), event.Ended.Err)
			return nil // whether the tool succeeded is for the suite to judge
		case event.Question != nil:
			q := event.Question
			if err := c.AnswerQuestion(ctx, tool.CallKey{ID: q.CallID}, q.ID, answerTo(q)); err != nil {
				return err
			}
		}
	}
}

// answerTo accepts a question. A form gets no values but those that it requires, so that its
// defaults count.
func answerTo(q *tool.Question) tool.Answer {
	switch {
	case q.Person != nil:
		content := json.RawMessage(`{}`)
		if strings.Contains(string(q.Person.Schema), `"confirmed"`) {
			content = json.RawMessage(`{"confirmed":true}`)
		}
		return tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: content}}
	case q.Model != nil:
		return tool.Answer{Model: &tool.ModelAnswer{Model: "test", Content: []tool.Content{tool.Text("an answer")}, StopReason: "endTurn"}}
	default:
		return tool.Answer{Roots: &tool.RootsAnswer{}}
	}
}
