package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromCallRecord converts the ledger's record of a call.
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
		Settled:   FromSettled(r.Settled),
		Node:      valid(r.Node),
	}
	if r.Err != nil {
		m.Error = toolpb.FromError(r.Err)
	}
	return m
}

// ToCallRecord converts the ledger's record of a call.
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
		Settled:   ToSettled(m.GetSettled()),
		Node:      m.GetNode(),
	}
	if m.GetError() != nil {
		r.Err = toolpb.ToError(m.GetError())
	}
	if r.State == tool.CallFailed && r.Err != nil && r.Err.Kind == tool.KindApprovalRequired { // of an older toolhost
		r.State = tool.CallNeedsApproval
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
		SinceTime: toolpb.FromTime(q.Since),
		Tenants:   valids(q.Tenants),
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
		Since:     toolpb.ToTime(m.GetSinceTime()),
		PageSize:  int(m.GetPageSize()),
		PageToken: m.GetPageToken(),
		Tenants:   m.GetTenants(),
	}
}

var callStates = map[tool.CallState]toolhostv1.CallState{
	tool.CallRunning:   toolhostv1.CallState_CALL_STATE_RUNNING,
	tool.CallSucceeded: toolhostv1.CallState_CALL_STATE_SUCCEEDED,
	tool.CallToolError: toolhostv1.CallState_CALL_STATE_TOOL_ERROR,
	tool.CallFailed:    toolhostv1.CallState_CALL_STATE_FAILED,

	tool.CallNeedsApproval: toolhostv1.CallState_CALL_STATE_NEEDS_APPROVAL,
}

func toCallState(s toolhostv1.CallState) tool.CallState {
	for word, number := range callStates {
		if number == s {
			return word
		}
	}
	return ""
}

var verdicts = map[tool.Verdict]toolhostv1.SettledVerdict{
	tool.VerdictHappened:     toolhostv1.SettledVerdict_SETTLED_VERDICT_HAPPENED,
	tool.VerdictDidNotHappen: toolhostv1.SettledVerdict_SETTLED_VERDICT_DID_NOT_HAPPEN,
	tool.VerdictUnknown:      toolhostv1.SettledVerdict_SETTLED_VERDICT_UNKNOWN,
}

// FromSettled converts what a tool said about an earlier call. nil stays nil.
func FromSettled(s *tool.Settlement) *toolhostv1.Settled {
	if s == nil {
		return nil
	}
	return &toolhostv1.Settled{Verdict: verdicts[s.Verdict], Reason: valid(s.Reason)}
}

// ToSettled converts what a tool said about an earlier call. nil stays nil. A verdict of a newer
// version is unknown.
func ToSettled(m *toolhostv1.Settled) *tool.Settlement {
	if m == nil {
		return nil
	}
	for verdict, number := range verdicts {
		if number == m.GetVerdict() {
			return &tool.Settlement{Verdict: verdict, Reason: m.GetReason()}
		}
	}
	return &tool.Settlement{Verdict: tool.VerdictUnknown, Reason: m.GetReason()}
}

// FromArtifactPiece converts a part of an artifact.
func FromArtifactPiece(p tool.ArtifactPiece) *toolhostv1.ReadArtifactResponse {
	return &toolhostv1.ReadArtifactResponse{Data: p.Data, MediaType: valid(p.MediaType), Size: p.Size, Name: valid(p.Name)}
}

// ToArtifactPiece converts a part of an artifact.
func ToArtifactPiece(m *toolhostv1.ReadArtifactResponse) tool.ArtifactPiece {
	return tool.ArtifactPiece{Data: m.GetData(), MediaType: m.GetMediaType(), Size: m.GetSize(), Name: m.GetName()}
}

// FromPluginEvent converts an event of a plugin or instance.
func FromPluginEvent(e tool.PluginEvent) *toolhostv1.PluginEvent {
	return &toolhostv1.PluginEvent{
		Seq:       e.Seq,
		Time:      toolpb.FromTime(e.Time),
		Type:      valid(e.Type),
		Plugin:    valid(e.Plugin),
		Instance:  valid(e.Instance),
		Digest:    valid(e.Digest),
		Reason:    valid(e.Reason),
		UntilTime: toolpb.FromTime(e.Until),
		Tenant:    valid(e.Tenant),
	}
}

// ToPluginEvent converts an event of a plugin or instance.
func ToPluginEvent(e *toolhostv1.PluginEvent) tool.PluginEvent {
	return tool.PluginEvent{
		Seq:      e.GetSeq(),
		Time:     toolpb.ToTime(e.GetTime()),
		Type:     e.GetType(),
		Plugin:   e.GetPlugin(),
		Instance: e.GetInstance(),
		Digest:   e.GetDigest(),
		Reason:   e.GetReason(),
		Until:    toolpb.ToTime(e.GetUntilTime()),
		Tenant:   e.GetTenant(),
	}
}

// FromEventQuery converts a selection of events.
func FromEventQuery(q tool.EventQuery) *toolhostv1.WatchEventsRequest {
	return &toolhostv1.WatchEventsRequest{
		Plugin: valid(q.Plugin), AfterSeq: q.After, Follow: q.Follow, SinceTime: toolpb.FromTime(q.Since), Tenants: valids(q.Tenants),
	}
}

// ToEventQuery converts a selection of events.
func ToEventQuery(q *toolhostv1.WatchEventsRequest) tool.EventQuery {
	return tool.EventQuery{
		Plugin: q.GetPlugin(), After: q.GetAfterSeq(), Follow: q.GetFollow(), Since: toolpb.ToTime(q.GetSinceTime()), Tenants: q.GetTenants(),
	}
}

// FromStatsQuery converts a selection of statistics.
func FromStatsQuery(q tool.StatsQuery) *toolhostv1.GetStatsRequest {
	return &toolhostv1.GetStatsRequest{Plugin: valid(q.Plugin), SinceTime: toolpb.FromTime(q.Since), Tenants: valids(q.Tenants), Own: q.Own}
}

// ToStatsQuery converts a selection of statistics.
func ToStatsQuery(m *toolhostv1.GetStatsRequest) tool.StatsQuery {
	return tool.StatsQuery{Plugin: m.GetPlugin(), Since: toolpb.ToTime(m.GetSinceTime()), Tenants: m.GetTenants(), Own: m.GetOwn()}
}

// FromLogLine converts a log line.
func FromLogLine(l tool.LogLine) *toolhostv1.LogLine {
	return &toolhostv1.LogLine{
		Seq:      l.Seq,
		Plugin:   valid(l.Plugin),
		Instance: valid(l.Instance),
		CallId:   valid(l.CallID),
		Tenant:   valid(l.Tenant),
		Record:   toolpb.FromLogRecord(l.Record),
	}
}

// ToLogLine converts a log line.
func ToLogLine(l *toolhostv1.LogLine) tool.LogLine {
	return tool.LogLine{
		Seq:      l.GetSeq(),
		Plugin:   l.GetPlugin(),
		Instance: l.GetInstance(),
		CallID:   l.GetCallId(),
		Tenant:   l.GetTenant(),
		Record:   toolpb.ToLogRecord(l.GetRecord()),
	}
}

// FromLogQuery converts a selection of log lines.
func FromLogQuery(q tool.LogQuery) *toolhostv1.TailLogsRequest {
	return &toolhostv1.TailLogsRequest{
		Plugin: valid(q.Plugin), CallId: valid(q.CallID), Last: uint32Of(q.Last), Follow: q.Follow, Tenants: valids(q.Tenants),
	}
}

// ToLogQuery converts a selection of log lines.
func ToLogQuery(q *toolhostv1.TailLogsRequest) tool.LogQuery {
	return tool.LogQuery{
		Plugin: q.GetPlugin(), CallID: q.GetCallId(), Last: int(q.GetLast()), Follow: q.GetFollow(), Tenants: q.GetTenants(),
	}
}

// FromStats converts the statistics of a tool.
func FromStats(s tool.Stats) *toolhostv1.ToolStats {
	out := &toolhostv1.ToolStats{
		Tool:          valid(s.Tool),
		Plugin:        valid(s.Plugin),
		Calls:         s.Calls,
		Succeeded:     s.Succeeded,
		ToolErrors:    s.ToolErrors,
		NeedsApproval: s.NeedsApproval,
		TotalDuration: toolpb.FromDuration(s.TotalDuration),
		MeanDuration:  toolpb.FromDuration(s.MeanDuration),
		TotalCost:     s.TotalCost,
		P50Duration:   toolpb.FromDuration(s.P50),
		P99Duration:   toolpb.FromDuration(s.P99),
	}
	if len(s.Failures) > 0 {
		out.Failures = make(map[string]uint64, len(s.Failures))
	}
	for kind, n := range s.Failures {
		out.Failures[valid(string(kind))] += n
	}
	return out
}

// ToStats converts the statistics of a tool.
func ToStats(s *toolhostv1.ToolStats) tool.Stats {
	out := tool.Stats{
		Tool:          s.GetTool(),
		Plugin:        s.GetPlugin(),
		Calls:         s.GetCalls(),
		Succeeded:     s.GetSucceeded(),
		ToolErrors:    s.GetToolErrors(),
		NeedsApproval: s.GetNeedsApproval(),
		TotalDuration: toolpb.ToDuration(s.GetTotalDuration()),
		MeanDuration:  toolpb.ToDuration(s.GetMeanDuration()),
		TotalCost:     s.GetTotalCost(),
		P50:           toolpb.ToDuration(s.GetP50Duration()),
		P99:           toolpb.ToDuration(s.GetP99Duration()),
	}
	if len(s.GetFailures()) > 0 {
		out.Failures = make(map[tool.Kind]uint64, len(s.GetFailures()))
	}
	for kind, n := range s.GetFailures() {
		out.Failures[tool.Kind(kind)] = n
	}
	return out
}

// FromReloaded converts the result of a reload.
func FromReloaded(r tool.Reloaded) *toolhostv1.ReloadResponse {
	out := &toolhostv1.ReloadResponse{Added: valids(r.Added), Removed: valids(r.Removed), Upgraded: valids(r.Upgraded)}
	for _, f := range r.Failures {
		out.Failures = append(out.Failures, &toolhostv1.ReloadFailure{Plugin: valid(f.Plugin), Reason: valid(f.Reason)})
	}
	if c := r.Configuration; c != nil {
		out.Configuration = FromConfigurationChange(c)
	}
	return out
}

// ToReloaded converts the result of a reload.
func ToReloaded(r *toolhostv1.ReloadResponse) tool.Reloaded {
	out := tool.Reloaded{Added: r.GetAdded(), Removed: r.GetRemoved(), Upgraded: r.GetUpgraded()}
	for _, f := range r.GetFailures() {
		out.Failures = append(out.Failures, tool.ReloadFailure{Plugin: f.GetPlugin(), Reason: f.GetReason()})
	}
	if c := r.GetConfiguration(); c != nil {
		out.Configuration = ToConfigurationChange(c)
	}
	return out
}

// FromLockFile converts the description of the lock file.
func FromLockFile(l tool.LockFile) *toolhostv1.GetLockFileResponse {
	return &toolhostv1.GetLockFileResponse{Path: valid(l.Path), Enforced: l.Enforced}
}

// ToLockFile converts the description of the lock file.
func ToLockFile(l *toolhostv1.GetLockFileResponse) tool.LockFile {
	return tool.LockFile{Path: l.GetPath(), Enforced: l.GetEnforced()}
}

// FromUpgraded converts the result of an upgrade.
func FromUpgraded(u tool.Upgraded) *toolhostv1.UpgradeResponse {
	return &toolhostv1.UpgradeResponse{Digest: valid(u.Digest), PreviousDigest: valid(u.PreviousDigest)}
}

// ToUpgraded converts the result of an upgrade.
func ToUpgraded(u *toolhostv1.UpgradeResponse) tool.Upgraded {
	return tool.Upgraded{Digest: u.GetDigest(), PreviousDigest: u.GetPreviousDigest()}
}

// FromRevisions converts the revisions of a plugin.
func FromRevisions(all []tool.Revision) *toolhostv1.ListRevisionsResponse {
	resp := &toolhostv1.ListRevisionsResponse{}
	for _, r := range all {
		resp.Revisions = append(resp.Revisions, &toolhostv1.Revision{
			Number: r.Number, Digest: valid(r.Digest), Time: toolpb.FromTime(r.Time), Cause: valid(string(r.Cause)),
			Principal: valid(r.Principal), Reason: valid(r.Reason), Current: r.Current, Kept: r.Kept,
		})
	}
	return resp
}

// ToRevisions converts the revisions of a plugin.
func ToRevisions(resp *toolhostv1.ListRevisionsResponse) []tool.Revision {
	all := []tool.Revision{}
	for _, r := range resp.GetRevisions() {
		all = append(all, tool.Revision{
			Number: r.GetNumber(), Digest: r.GetDigest(), Time: toolpb.ToTime(r.GetTime()), Cause: tool.RevisionCause(r.GetCause()),
			Principal: r.GetPrincipal(), Reason: r.GetReason(), Current: r.GetCurrent(), Kept: r.GetKept(),
		})
	}
	return all
}

// FromRolledBack converts the result of a rollback.
func FromRolledBack(u tool.Upgraded) *toolhostv1.RollbackResponse {
	return &toolhostv1.RollbackResponse{Digest: valid(u.Digest), PreviousDigest: valid(u.PreviousDigest)}
}

// ToRolledBack converts the result of a rollback.
func ToRolledBack(u *toolhostv1.RollbackResponse) tool.Upgraded {
	return tool.Upgraded{Digest: u.GetDigest(), PreviousDigest: u.GetPreviousDigest()}
}
