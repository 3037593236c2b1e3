package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Clients of 2025-11-25 answer by sampling, which 2026-07-28 deprecates.

// askingServers returns a toolhost with a server of each version of MCP, whose tools may ask what
// is permitted, and are not dangerous.
func askingServers(t *testing.T, permitted string) *toolhost {
	t.Helper()
	h := prepare(t)
	h.addServer(t, "former", "mcp: {command: [./mcpserver], prefix: f_, secrets: {API_TOKEN: token}}\n")
	h.addServer(t, "modern", "mcp: {command: [./mcpserver, modern], prefix: m_, secrets: {API_TOKEN: token}}\n")
	write(t, filepath.Join(h.home, "token"), "the-token-of-a-test", 0o600)
	write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf(`secrets: {token: {plugins: [former, modern], file: token}}
plugin:
  former: {ask: %[1]s}
  modern: {ask: %[1]s}
tools:
  former.f_do: {dangerous: false}
  modern.m_do: {dangerous: false}
`, permitted), 0o600)
	h.serve(t)
	return h
}

// Questions pass from an MCP server behind toolhost to the user of an MCP client in front of it, in
// each combination of the versions.
func TestMCPServerAsksAnMCPClient(t *testing.T) {
	t.Parallel()
	h := askingServers(t, "[person, model]")
	for _, version := range mcpVersions {
		var messages []string
		c := h.mcpServe(t, version, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				messages = append(messages, req.Params.Message)
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"color": "red"}}, nil
			},
			CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Paris"}}, nil
			},
		})
		for prefix, plugin := range map[string]string{"f_": "former", "m_": "modern"} {
			messages = nil
			if _, text := c.call(t, prefix+"do", map[string]any{"text": "ask"}, nil); !strings.Contains(text, `answered: {"action":"accept","content":{"color":"red"}}`) {
				t.Errorf("%s, %s: %q", version, plugin, text)
			}
			if len(messages) != 1 || messages[0] != "The plugin "+plugin+" asks for its tool "+prefix+"do:\n\nWhich color?" {
				t.Errorf("%s, %s: the user reads %q", version, plugin, messages)
			}
			if _, text := c.call(t, prefix+"do", map[string]any{"text": "ask-model"}, nil); !strings.Contains(text, "Paris") {
				t.Errorf("%s, %s: %q", version, plugin, text)
			}
			messages = nil
			c.call(t, prefix+"do", map[string]any{"text": "ask-secret"}, nil)
			if len(messages) != 1 || strings.ContainsAny(messages[0], "\x1b\a") || strings.Contains(messages[0], "the-token-of-a-test") {
				t.Errorf("%s, %s: the user reads %q", version, plugin, messages)
			}
		}
		mute := h.mcpServe(t, version, nil)
		for _, prefix := range []string{"f_", "m_"} {
			if _, text := mute.call(t, prefix+"do", map[string]any{"text": "ask"}, nil); !strings.Contains(text, "permits") && !strings.Contains(text, "unsupported") && !strings.Contains(text, "cannot ask") {
				t.Errorf("%s, %s: a client that cannot answer gets %q", version, prefix, text)
			}
		}
	}
}

// A server that asks without an end, or after its call, reaches no person, and its next call works.
func TestMCPServerAsksTooMuch(t *testing.T) {
	t.Parallel()
	h := askingServers(t, "[person]")
	c := h.dial(t)
	for _, prefix := range []string{"f_", "m_"} {
		e, err := c.Open(t.Context(), tool.Call{Tool: prefix + "do", Arguments: json.RawMessage(`{"text":"ask-many"}`), Answers: []tool.QuestionKind{tool.QuestionPerson}}, true)
		if err != nil {
			t.Fatal(err)
		}
		questions := 0
		for ended := false; !ended; {
			ev, err := e.Next(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case ev.Question != nil:
				questions++
				answer := tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonDecline}}
				if err := c.AnswerQuestion(t.Context(), tool.CallKey{ID: ev.Question.CallID}, ev.Question.ID, answer); err != nil && tool.KindOf(err) != tool.KindNotFound {
					t.Error(err)
				}
			case ev.Ended != nil:
				ended = true
				if prefix == "m_" && tool.KindOf(ev.Ended.Err) != tool.KindRateLimited {
					t.Errorf("%s: %+v", prefix, ev.Ended)
				}
			}
		}
		e.Close()
		if questions > 16 {
			t.Errorf("%s: a person was asked %d times", prefix, questions)
		}
		if out, r := h.callJSON(t, prefix+"do", `{"text":"fail"}`); out.Text != "it cannot be done" {
			t.Errorf("the next call: %s", r.stdout)
		}
	}
	h.callJSON(t, "f_do", `{"text":"ask-late"}`)
	eventually.Holds(t, "the late question is refused", func() bool {
		return strings.Contains(h.do(t, "logs", "former").stdout, `late: {"code":-32000`)
	})
}

// The question of an MCP server is a decision of an agentd's run, which survives that agentd is
// killed between question and answer. The tool is called once.
func TestMCPServerAsksAcrossAKillOfAgentd(t *testing.T) {
	t.Parallel()
	h := askingServers(t, "[person]")
	for _, prefix := range []string{"f_", "m_"} {
		executions := filepath.Join(h.workspace, prefix+"executions")
		arguments, err := json.Marshal(map[string]string{"text": "ask-once " + executions})
		if err != nil {
			t.Fatal(err)
		}
		m := newMind(t, func(asked thought) (string, string) {
			if last, _ := asked.Messages[len(asked.Messages)-1].Content.(string); strings.HasPrefix(last, "answered") {
				return "done: " + last, ""
			}
			return "", call("a", prefix+"do", string(arguments))
		})
		d := h.agentdServe(t, m.flags()...)
		id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go", People: &agentdv1.People{Attended: true}})
		if err != nil {
			t.Fatal(err)
		}
		events := d.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetDecisionRequested() != nil })
		asked := events[len(events)-1].GetDecisionRequested().GetDecision()
		if asked.GetKind() != agentdv1.DecisionKind_DECISION_KIND_TOOL || asked.GetReason() != "Which color?" || !strings.Contains(string(asked.GetSchema()), `"color"`) {
			t.Fatalf("the decision is %v", asked)
		}
		d.kill()
		d.live(t)
		answer := &agentdv1.Decision{DecisionId: asked.GetDecisionId(), Verdict: &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: `{"color":"red"}`}}}
		if _, err := d.Respond(t.Context(), id, "ann", answer); err != nil {
			t.Fatal(err)
		}
		d.kill()
		d.live(t)
		text := ""
		for _, e := range d.story(t, id, 0, nil) {
			text += e.GetRunFinished().GetText()
		}
		if !strings.HasPrefix(text, "done: answered") || !strings.Contains(text, `"red"`) {
			t.Errorf("%s: the run ends with %q", prefix, text)
		}
		if lines, err := os.ReadFile(executions); string(lines) != "called\n" {
			t.Errorf("%s: the tool was called %q (%v), want one line", prefix, lines, err)
		}
		d.kill()
	}
}
