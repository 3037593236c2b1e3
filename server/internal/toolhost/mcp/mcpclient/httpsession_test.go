package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
)

// refusal is what a server answers to a call of a session that it may have lost.
type refusal struct {
	status int
	body   string // ID stands for the id of the request; an answer of 200 that begins with event is a stream
}

// forgetful is a server that answers each call with a refusal.
func forgetful(r refusal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		text, _ := io.ReadAll(req.Body)
		_ = json.Unmarshal(text, &m)
		w.Header().Set("Content-Type", typeJSON)
		switch {
		case req.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == "initialize":
			w.Header().Set(sessionHeader, "s1")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/list":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}}`, m.ID)
		default:
			body := strings.ReplaceAll(r.body, "ID", string(m.ID))
			if strings.HasPrefix(body, "event") {
				w.Header().Set("Content-Type", typeEvents)
			} else if !strings.HasPrefix(body, "{") {
				w.Header().Set("Content-Type", "text/plain")
			}
			w.WriteHeader(r.status)
			_, _ = io.WriteString(w, body)
		}
	})
}

// TestWordsForALostSession checks that a call that a server refused because it lost the session was
// not taken, so that another session can execute it.
func TestWordsForALostSession(t *testing.T) {
	rpc := func(code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":%q},"id":null}`, code, message)
	}
	for source, r := range map[string]refusal{
		"the specification":                     {404, ""},
		"mcp-remote#106":                        {404, rpc(-32001, "Session not found")},
		"claude-code#55970, Python":             {404, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`},
		"claude-code#27425, TypeScript example": {400, rpc(-32000, "Bad Request: No valid session ID provided")},
		"fastmcp#100, without a prefix":         {400, rpc(-32000, "No valid session ID provided")},
		"affine-mcp-server#301":                 {400, rpc(-32000, "Bad Request: No valid session ID or not an initialize request")},
		"a server with another code":            {400, rpc(-32600, "No valid session id; expected initialize")},
		"python-sdk#1004":                       {400, "Bad Request: No valid session ID provided"},
		"TypeScript example, as text":           {400, "Invalid or missing session ID"},
		"TypeScript example, as an object":      {400, `{"error":"Invalid or missing session ID"}`},
		"TypeScript transport after a restart":  {400, rpc(-32000, "Bad Request: Server not initialized")},
		"OmniRoute#5169":                        {400, rpc(-32000, "Bad Request: Unknown Mcp-Session-Id header")},
		"mcphub#196, Unla":                      {400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Invalid Request: Session not found"}}`},
		"mcp-go#689":                            {400, "Invalid session ID\n"},
		"mcp-proxy#108":                         {401, rpc(-32000, "Unauthorized: Session not found")},
		"rmcp, as text":                         {401, "Unauthorized: Session not found"},
		"neotoma#1923":                          {503, `{"error":"Session not found"}`},
		"FastAPI":                               {400, `{"detail":"Session not found or expired. Please reinitialize."}`},
		"with its id":                           {400, rpc(-32000, "Session not found: 0af7-51")},
		"with its id inside":                    {410, `Session "0af7-51" has expired`},
		"terminated":                            {400, rpc(-32001, "Session has been terminated")},
		"a session that does not exist":         {400, rpc(-32602, "Session does not exist")},
		"a header that is required":             {400, rpc(-32000, "Bad Request: Mcp-Session-Id header is required")},
		"fastmcp#121":                           {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Session not found"}}`},
		"200 and the code of TypeScript":        {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}`},
		"keryx#503, in a stream":                {200, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32600,\"message\":\"Session not found\"}}\n\n"},
	} {
		t.Run(source, func(t *testing.T) {
			conn := mustOpen(t, serve(t, forgetful(r)), func(c *Config, _ *HTTPConfig) { c.Protocol = "2025-11-25" })
			out, err := do(t, conn, "x")
			if !errors.Is(err, pluginconn.ErrNotTaken) {
				t.Fatalf("%+v, %v", out, err)
			}
			<-conn.Done()
			if err := conn.Ended(); !errors.Is(err, ErrSessionGone) {
				t.Errorf("the session ended with %v", err)
			}
		})
	}
}

// TestErrorsThatOnlyMentionASession checks that other errors end one call, which may have happened.
func TestErrorsThatOnlyMentionASession(t *testing.T) {
	for name, r := range map[string]refusal{
		"of a tool":                 {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"Session not found"}}`},
		"of a tool with a browser":  {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"The browser has no session"}}`},
		"a timeout":                 {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Request timed out"}}`},
		"a result":                  {200, `{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"Session not found"}]}}`},
		"a stream that began":       {200, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32600,\"message\":\"Session not found\"}}\n\n"},
		"credentials":               {401, "token expired"},
		"arguments":                 {400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"the argument session is missing"}}`},
		"another wording of a tool": {500, "opening the session failed"},
		"a page":                    {400, "<html>Session not found</html>"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := mustOpen(t, serve(t, forgetful(r)), func(c *Config, _ *HTTPConfig) { c.Protocol = "2025-11-25" })
			if out, err := do(t, conn, "x"); err != nil || out.Err == nil && !out.Result.IsError {
				t.Fatalf("%+v, %v", out, err)
			}
			select {
			case <-conn.Done():
				t.Errorf("the session ended: %v", conn.Ended())
			default:
			}
		})
	}
}
