package e2e_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// overHTTP is JSON over HTTP at one of the programs.
type overHTTP struct{ url, token string }

// at returns JSON over HTTP at the port that the log of a program names.
func at(t *testing.T, log *syncbuf.Buffer, token string) overHTTP {
	t.Helper()
	found := regexp.MustCompile(`127\.0\.0\.1:\d+ for JSON over HTTP`).FindString(log.String())
	if found == "" {
		t.Fatalf("the log names no port:\n%s", log)
	}
	port, _, _ := strings.Cut(found, " ")
	return overHTTP{"http://" + port, token}
}

// post sends a request in the form of its RPC, and returns the status and the answer.
func (o overHTTP) post(t *testing.T, method, kind string, body []byte) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+o.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// do makes a unary RPC.
func (o overHTTP) do(t *testing.T, method, request string, answer any) {
	t.Helper()
	status, data := o.post(t, method, "application/json", []byte(request))
	if err := json.Unmarshal(data, answer); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", method, status, data)
	}
}

// watch makes an RPC with a stream, and returns its messages. The last one is its end.
func (o overHTTP) watch(t *testing.T, method, request string) (messages []string) {
	t.Helper()
	_, data := o.post(t, method, "application/connect+json", append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...))
	for len(data) >= 5 {
		size := 5 + binary.BigEndian.Uint32(data[1:])
		messages = append(messages, string(data[5:size]))
		data = data[size:]
	}
	return messages
}

// A program with a token and no gRPC calls a tool, and starts a run that calls it, until its tokens
// are revoked.
func TestJSONOverHTTP(t *testing.T) {
	h := prepare(t)
	const settings = "http: {listen: '127.0.0.1:0'}\nauth:\n  bindings:\n    - {role: caller, members_of: [red]}\n" +
		"    - {role: admin, principals: [\"uid:%d\"], tenants: [all]}\n    - {role: delegate, principals: [\"uid:%[1]d\"], tenants: [all]}\n"
	putConfiguration(t, h, fmt.Sprintf(settings, os.Getuid()))
	h.serve(t)
	file := filepath.Join(h.home, "agentd.yaml")
	write(t, file, fmt.Sprintf(strings.ReplaceAll(settings, "delegate", "auditor"), os.Getuid()), 0o600)
	m := newMind(t, func(asked thought) (string, string) {
		if last, _ := asked.Messages[len(asked.Messages)-1].Content.(string); strings.Contains(last, "42") {
			return "it is " + last, ""
		}
		return "", call("a", "calculator", `{"expression":"6*7"}`)
	})
	d := h.agentdServe(t, append(m.flags(), "--config", file)...)
	token := func(program string, args ...string) string {
		t.Helper()
		args = append([]string{"token"}, args...)
		if program == "toolhost" {
			args = append(args, "--state", h.state)
		} else {
			args = append(args, "--config", file)
		}
		out, err := command(t.Context(), h.home, nil, program, args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	toolhost := at(t, h.stderr, token("toolhost", "create", "ci", "--tenant", "red", "--tools", "calculator"))
	var called struct {
		Result struct{ Content []struct{ Text string } }
	}
	toolhost.do(t, "/toolhost.v1.ToolService/Call", `{"tool":"calculator","arguments":"{\"expression\":\"6*7\"}"}`, &called)
	if len(called.Result.Content) != 1 || called.Result.Content[0].Text != "42" {
		t.Errorf("the result is %+v", called)
	}
	if status, answer := toolhost.post(t, "/toolhost.v1.ToolService/Call", "application/json", []byte(`{"tool":"fs_list"}`)); status != http.StatusNotFound {
		t.Errorf("a tool outside of the token's scope: %d %s", status, answer)
	}

	agentd := at(t, d.log, token("agentd", "create", "ci", "--tenant", "red"))
	var started struct{ RunID string }
	agentd.do(t, "/agentd.v1.AgentService/StartRun", `{"prompt":"What is 6*7?"}`, &started)
	events := agentd.watch(t, "/agentd.v1.AgentService/WatchRun", fmt.Sprintf(`{"runId":%q}`, started.RunID))
	if story := strings.Join(events, "\n"); !strings.Contains(story, `{\"expression\":\"6*7\"}`) || !strings.Contains(story, "it is 42") || events[len(events)-1] != "{}" {
		t.Errorf("the events are\n%s", story)
	}
	var listed struct{ Runs []struct{ RunID string } }
	agentd.do(t, "/agentd.v1.AgentService/ListRuns", `{}`, &listed)
	if len(listed.Runs) != 1 || listed.Runs[0].RunID != started.RunID {
		t.Errorf("the runs are %+v", listed)
	}
	for program, o := range map[string]overHTTP{"toolhost": toolhost, "agentd": agentd} {
		var waiting struct{ Decisions []any }
		o.do(t, "/toolhost.decision.v1.DecisionService/ListDecisions", `{}`, &waiting)
		token(program, "revoke", o.token)
		if status, answer := o.post(t, "/toolhost.decision.v1.DecisionService/ListDecisions", "application/json", []byte(`{}`)); status != http.StatusUnauthorized {
			t.Errorf("%s with a revoked token: %d %s", program, status, answer)
		}
	}
}
