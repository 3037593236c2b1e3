package mcpclient

import (
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// roundOf returns what a server asks before it fills in a prompt.
func roundOf(got *mcp.GetPromptResult) (*tool.PromptRound, error) {
	if len(got.InputRequests) == 0 {
		return nil, tool.Errorf(tool.KindUnavailable, "the MCP server has too much to do; try again later")
	}
	if err := checkInputs(got.InputRequests); err != nil {
		return nil, err
	}
	round := &tool.PromptRound{State: got.RequestState}
	for _, key := range slices.Sorted(maps.Keys(got.InputRequests)) {
		q, refused := questionOf(got.InputRequests[key])
		if refused != nil {
			return nil, refused
		}
		q.Key = key
		round.Questions = append(round.Questions, q)
	}
	return round, nil
}

// addAnswers adds the answers of a request, and the state that the server wants back.
func addAnswers(params *mcp.GetPromptParams, r *tool.PromptRequest) error {
	if r.Round == nil {
		return nil
	}
	params.RequestState, params.InputResponses = r.Round.State, mcp.InputResponseMap{}
	for i := range r.Given {
		q := &r.Round.Questions[i]
		response, refused := responseOf(q, &r.Given[i])
		if refused != nil {
			return refused
		}
		params.InputResponses[q.Key] = response
	}
	return nil
}
