package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromCallRecord converts a call as the ledger has it.
func FromCallRecord(r tool.CallRecord) *toolhostv1.CallRecord {
	m := &toolhostv1.CallRecord{
		CallId:    valid(r.CallID),
		Principal: valid(r.Principal),
		Session:   valid(r.Session),
		Tool:      valid(r.Tool),
		Plugin:    valid(r.Plugin),
		Instance:  valid(r.Instance),
		State:     callStates[r.State],
		StartTime: toolpb.FromTime(r.StartTime),
		EndTime:   toolpb.FromTime(r.EndTime),
	}
	if r.Err != nil {
		m.Error = toolpb.FromError(r.Err)
	}
	return m
}

// ToCallRecord converts a call as the ledger has it.
func ToCallRecord(m *toolhostv1.CallRecord) tool.CallRecord {
	r := tool.CallRecord{
		CallID:    m.GetCallId(),
		Principal: m.GetPrincipal(),
		Session:   m.GetSession(),
		Tool:      m.GetTool(),
		Plugin:    m.GetPlugin(),
		Instance:  m.GetInstance(),
		State:     toCallState(m.GetState()),
		StartTime: toolpb.ToTime(m.GetStartTime()),
		EndTime:   toolpb.ToTime(m.GetEndTime()),
	}
	if m.GetError() != nil {
		r.Err = toolpb.ToError(m.GetError())
	}
	return r
}

// FromCallQuery converts a selection of calls.
func FromCallQuery(q tool.CallQuery) *toolhostv1.ListCallsRequest {
	return &toolhostv1.ListCallsRequest{
		PageSize:  int32Of(q.PageSize),
		PageToken: valid(q.PageToken),
		Plugin:    valid(q.Plugin),
		Tool:      valid(q.Tool),
		Session:   valid(q.Session),
		State:     callStates[q.State],
		CallId:    valid(q.CallID),
	}
}

// ToCallQuery converts a selection of calls.
func ToCallQuery(m *toolhostv1.ListCallsRequest) tool.CallQuery {
	return tool.CallQuery{
		Plugin:    m.GetPlugin(),
		Tool:      m.GetTool(),
		Session:   m.GetSession(),
		CallID:    m.GetCallId(),
		State:     toCallState(m.GetState()),
		PageSize:  int(m.GetPageSize()),
		PageToken: m.GetPageToken(),
	}
}

var callStates = map[tool.CallState]toolhostv1.CallState{
	tool.CallRunning:   toolhostv1.CallState_CALL_STATE_RUNNING,
	tool.CallSucceeded: toolhostv1.CallState_CALL_STATE_SUCCEEDED,
	tool.CallToolError: toolhostv1.CallState_CALL_STATE_TOOL_ERROR,
	tool.CallFailed:    toolhostv1.CallState_CALL_STATE_FAILED,
}

func toCallState(s toolhostv1.CallState) tool.CallState {
	for word, number := range callStates {
		if number == s {
			return word
		}
	}
	return ""
}

// FromArtifactPiece converts a part of an artifact.
func FromArtifactPiece(p tool.ArtifactPiece) *toolhostv1.ReadArtifactResponse {
	return &toolhostv1.ReadArtifactResponse{Data: p.Data, MediaType: valid(p.MediaType), Size: p.Size, Name: valid(p.Name)}
}

// ToArtifactPiece converts a part of an artifact.
func ToArtifactPiece(m *toolhostv1.ReadArtifactResponse) tool.ArtifactPiece {
	return tool.ArtifactPiece{Data: m.GetData(), MediaType: m.GetMediaType(), Size: m.GetSize(), Name: m.GetName()}
}
