package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

var statusStates = pairs(map[tool.StatusState]toolv1.StatusState{
	tool.StatusWait:    toolv1.StatusState_STATUS_STATE_WAIT,
	tool.StatusDoing:   toolv1.StatusState_STATUS_STATE_DOING,
	tool.StatusSuccess: toolv1.StatusState_STATUS_STATE_SUCCESS,
	tool.StatusError:   toolv1.StatusState_STATUS_STATE_ERROR,
})

// FromStatus converts a status.
func FromStatus(s tool.Status) *toolv1.Status {
	out := &toolv1.Status{
		State:      statusStates.from(s.State),
		Tip:        validText(s.Tip),
		Parameters: s.Parameters,
		Result:     s.Result,
	}
	if s.Progress != nil {
		out.Progress = FromProgress(*s.Progress)
	}
	return out
}

// ToStatus converts a status. nil is the zero Status; a state that is not known leaves it as it was.
func ToStatus(s *toolv1.Status) tool.Status {
	out := tool.Status{
		State:      statusStates.to(s.GetState(), ""),
		Tip:        s.GetTip(),
		Parameters: rawJSON(s.GetParameters()),
		Result:     rawJSON(s.GetResult()),
	}
	if s.GetProgress() != nil {
		p := ToProgress(s.GetProgress())
		out.Progress = &p
	}
	return out
}

// FromProgress converts how far a call is.
func FromProgress(p tool.Progress) *toolv1.Progress {
	return &toolv1.Progress{Done: finite(p.Done), Total: finite(p.Total), Message: validText(p.Message)}
}

// ToProgress converts how far a call is. nil is the zero Progress.
func ToProgress(p *toolv1.Progress) tool.Progress {
	return tool.Progress{Done: finite(p.GetDone()), Total: finite(p.GetTotal()), Message: p.GetMessage()}
}

var logLevels = pairs(map[tool.LogLevel]toolv1.LogLevel{
	tool.LogDebug: toolv1.LogLevel_LOG_LEVEL_DEBUG,
	tool.LogInfo:  toolv1.LogLevel_LOG_LEVEL_INFO,
	tool.LogWarn:  toolv1.LogLevel_LOG_LEVEL_WARN,
	tool.LogError: toolv1.LogLevel_LOG_LEVEL_ERROR,
})

// FromLogRecord converts a line of a tool's log.
func FromLogRecord(r tool.LogRecord) *toolv1.LogRecord {
	return &toolv1.LogRecord{
		Time:       FromTime(r.Time),
		Level:      logLevels.from(r.Level),
		Message:    validText(r.Message),
		Attributes: FromValues(r.Attributes),
	}
}

// ToLogRecord converts a line of a tool's log. A level that is not set or not known is tool.LogInfo.
func ToLogRecord(r *toolv1.LogRecord) tool.LogRecord {
	return tool.LogRecord{
		Time:       ToTime(r.GetTime()),
		Level:      logLevels.to(r.GetLevel(), tool.LogInfo),
		Message:    r.GetMessage(),
		Attributes: ToValues(r.GetAttributes()),
	}
}
