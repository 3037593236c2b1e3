package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 The suite tests sampling and roots, which version 2026-07-28 deprecates.

// key authenticates the states of requests, so that the server accepts only those that it sent.
var key = func() []byte {
	k := make([]byte, 32)
	_, _ = rand.Read(k) // never fails
	return k
}()

func sign(state string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

// opened returns the state that sign was given.
func opened(signed string) (string, error) {
	state, _, _ := strings.Cut(signed, ".")
	if !hmac.Equal([]byte(sign(state)), []byte(signed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not one that the server sent"}
	}
	return state, nil
}

// needs returns the result of a tool that needs input.
func needs(state string, requests mcp.InputRequestMap) result {
	r := &mcp.CallToolResult{InputRequests: requests}
	if state != "" {
		r.RequestState = sign(state)
	}
	return r
}

// form returns a question with a form of one required field.
func form(message, field, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field)
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

func prompt(message string, tokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: tokens, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: message}}}}
}

// answers has what the client answered.
type answers map[string]string

// answersOf returns the answers of a request to the input requests of a tool, and whether all of
// them are there.
func answersOf(given mcp.InputResponseMap, asked mcp.InputRequestMap) (answers, bool) {
	found := answers{}
	for id, request := range asked {
		switch answer := given[id].(type) {
		case *mcp.ElicitResult:
			if _, ok := request.(*mcp.ElicitParams); !ok || answer.Action != "accept" {
				return nil, false
			}
			for field, value := range answer.Content {
				found[field] = fmt.Sprint(value)
			}
		case *mcp.CreateMessageWithToolsResult:
			for _, c := range answer.Content {
				if said, ok := c.(*mcp.TextContent); ok {
					found[id] += said.Text
				}
			}
		case *mcp.CreateMessageResult:
			if said, ok := answer.Content.(*mcp.TextContent); ok {
				found[id] = said.Text
			}
		case *mcp.ListRootsResult:
			for _, root := range answer.Roots {
				found[id] += root.URI + " "
			}
		default:
			return nil, false
		}
	}
	return found, true
}

// addInputs adds the tools that ask as servers of version 2026-07-28 do: by a result that requires
// input. The SDK translates these results for clients of version 2025-11-25.
func addInputs(s *mcp.Server) {
	name := mcp.InputRequestMap{"user_name": form("What is your name?", "name", "string")}
	roots := mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}
	confirm := mcp.InputRequestMap{"confirm": form("Please confirm", "ok", "boolean")}
	all := mcp.InputRequestMap{"greeting": prompt("Generate a greeting", 50)}
	maps.Copy(all, name)
	maps.Copy(all, roots)
	addInput(s, "test_input_required_result_elicitation", "", name)
	addInput(s, "test_input_required_result_sampling", "", mcp.InputRequestMap{"capital_question": prompt("What is the capital of France?", 100)})
	addInput(s, "test_input_required_result_list_roots", "", roots)
	addInput(s, "test_input_required_result_request_state", "state-ok", confirm)
	addInput(s, "test_input_required_result_tampered_state", "state-ok", confirm)
	addInput(s, "test_input_required_result_multiple_inputs", "state-ok", all)
	addInput(s, "test_streaming_elicitation", "", name)
	add(s, "test_input_required_result_multi_round", "Asks twice, one question after the other.", noArguments, rounds)
	add(s, "test_input_required_result_capabilities", "Asks only what the client can answer.", noArguments, capable)
	add(s, "test_missing_capability", "Needs a client with sampling.", noArguments, needsSampling)
}

// addInput adds a tool that needs input once. With a state, the tool requires that the client
// returns the state.
func addInput(s *mcp.Server, name, state string, requests mcp.InputRequestMap) {
	add(s, name, "Needs input from its client.", noArguments, func(_ context.Context, req *mcp.CallToolRequest) (result, error) {
		found, complete := answersOf(req.Params.InputResponses, requests)
		if !complete {
			return needs(state, requests), nil
		}
		if state != "" {
			echoed, err := opened(req.Params.RequestState)
			if err != nil {
				return nil, err
			}
			found["state"] = echoed
		}
		said := []string{}
		for _, id := range slices.Sorted(maps.Keys(found)) {
			said = append(said, id+": "+found[id])
		}
		return text("%s", strings.Join(said, ", ")), nil
	})
}

// rounds asks for a name, and then for a color. The state carries the name.
func rounds(_ context.Context, req *mcp.CallToolRequest) (result, error) {
	name := mcp.InputRequestMap{"step1": form("Step 1: What is your name?", "name", "string")}
	color := mcp.InputRequestMap{"step2": form("Step 2: What is your favorite color?", "color", "string")}
	if found, complete := answersOf(req.Params.InputResponses, color); complete {
		state, err := opened(req.Params.RequestState)
		if err != nil {
			return nil, err
		}
		return text("%s likes %s", state, found["color"]), nil
	}
	if found, complete := answersOf(req.Params.InputResponses, name); complete {
		if _, err := opened(req.Params.RequestState); err != nil {
			return nil, err
		}
		return needs(hex.EncodeToString([]byte(found["name"])), color), nil
	}
	return needs("begun", name), nil
}

// capable asks only questions that the client says it can answer.
func capable(_ context.Context, req *mcp.CallToolRequest) (result, error) {
	can := req.ClientCapabilities()
	if can == nil {
		can = &mcp.ClientCapabilities{}
	}
	requests := mcp.InputRequestMap{}
	if can.Elicitation != nil {
		requests["person"] = form("What is your name?", "name", "string")
	}
	if can.Sampling != nil {
		requests["model"] = prompt("Say hello", 10)
	}
	if len(requests) == 0 {
		return text("the client can answer nothing"), nil
	}
	if found, complete := answersOf(req.Params.InputResponses, requests); complete {
		return text("%v", found), nil
	}
	return needs("", requests), nil
}

// needsSampling refuses clients without sampling, as version 2026-07-28 requires.
func needsSampling(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
	if can := req.ClientCapabilities(); can != nil && can.Sampling != nil {
		return text("the client has sampling"), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the tool needs a client with sampling", Data: data}
}
