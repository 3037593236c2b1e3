package eventlog

import "github.com/toolhost/toolhost/tool"

// eventSize returns the approximate memory that an event takes, in bytes.
func eventSize(ev *tool.Event) int {
	const fixed = 128
	switch {
	case ev.Status != nil:
		return fixed + len(ev.Status.Tip) + len(ev.Status.Parameters) + len(ev.Status.Result)
	case ev.Log != nil:
		size := fixed + len(ev.Log.Message)
		for key, value := range ev.Log.Attributes {
			size += len(key) + len(value)
		}
		return size
	case ev.Ended != nil:
		return fixed + OutcomeSize(ev.Ended)
	default:
		return fixed
	}
}

// OutcomeSize returns the approximate memory that an outcome takes, in bytes.
func OutcomeSize(o *tool.Outcome) int {
	const fixed = 128
	size := 0
	for i := range o.Result.Content {
		c := &o.Result.Content[i]
		size += fixed + len(c.Text) + len(c.JSON) + len(c.Data)
		if c.Artifact != nil {
			size += len(c.Artifact.Head) + len(c.Artifact.Tail)
		}
	}
	for _, effect := range o.Result.Effects {
		size += len(effect.Key) + len(effect.Value)
	}
	for key, value := range o.Result.Metadata {
		size += fixed + len(key) + len(value)
	}
	if o.Err == nil {
		return size
	}
	size += fixed + len(o.Err.Message) + len(o.Err.Arguments)
	if o.Err.Exit != nil {
		for _, line := range o.Err.Exit.LastStderr {
			size += len(line)
		}
	}
	return size
}
