package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// nameless stands in a conversation for a tool name that no provider would take back.
const placeholderName = "invalid_tool_name"

// CallID returns the id of a call: the run's, the turn that asked for it, from 1, and its place in that turn, from 0.
// A provider's ids are not used for it: they may be missing, repeat, or come again with a retried response.
func CallID(runID string, turn, index int) string {
	return fmt.Sprintf("%s.t%d.c%d", runID, turn, index)
}

// Respond returns the event for a response that the model gave when read was the last event. offered are the tools
// of plugins that it could know, available or not; the agent admits each of them. Ids and names that no provider would take back are replaced.
func (s *State) Respond(resp *model.Response, offered []tool.Info, read uint64) *AssistantMessage {
	m := &AssistantMessage{StopReason: resp.StopReason, Usage: resp.Usage, Read: read}
	m.Message = model.Message{Role: model.RoleAssistant}
	used := make(map[string]struct{})
	for _, block := range resp.Message.Blocks {
		switch {
		case block.ToolCall != nil:
			index := len(m.Calls)
			call := *block.ToolCall
			m.Calls = append(m.Calls, s.started.describe(&call, CallID(s.started.RunID, s.Turn(), index), offered))
			call.ID = s.freshID(call.ID, s.Turn(), index, used)
			if tool.CheckName(call.Name) != nil {
				call.Name = placeholderName
			}
			block = model.Block{ToolCall: &call}
		case block.Text != nil && block.Text.Text == "", block == model.Block{}:
			continue // providers refuse empty blocks
		}
		m.Message.Blocks = append(m.Message.Blocks, block)
	}
	return m
}

// describe returns the call with what is known of its tool.
func (r *RunStarted) describe(call *model.ToolCall, id string, offered []tool.Info) Call {
	c := Call{ID: id, Tool: call.Name, Arguments: call.Arguments}
	i := slices.IndexFunc(offered, func(info tool.Info) bool { return info.Spec.Name == call.Name })
	system := slices.ContainsFunc(r.OfferedSystemTools(offered), func(spec tool.Spec) bool { return spec.Name == call.Name })
	switch {
	case system:
		c.System = call.Name
	case i < 0:
		c.Refusal = fmt.Sprintf("[not_found] There is no tool %q. %s", Clip(call.Name), r.others(offered))
	case offered[i].UnavailableReason != "":
		c.Refusal = fmt.Sprintf("[unavailable] The tool %s cannot be called now: %s", call.Name, offered[i].UnavailableReason)
	default:
		spec := &offered[i].Spec
		c.Serial, c.ReturnDirect, c.SideEffects = spec.Serial, spec.ReturnDirect, spec.HasSideEffects()
		c.DisplayName = Clip(spec.DisplayName)
		c.EffectKeys, c.CostPerUse = spec.EffectKeys, max(spec.CostPerUse, 0)
	}
	return c
}

// others says which tools there are instead of one that there is not.
func (r *RunStarted) others(offered []tool.Info) string {
	if r.defersTools(offered) {
		return "Search for one with " + SystemToolSearch + "."
	}
	return names(offered)
}

// names lists the tools that can be called, as far as a model wants to read it.
func names(offered []tool.Info) string {
	const most = 50
	var list []string
	for _, info := range offered {
		if info.UnavailableReason == "" {
			list = append(list, info.Spec.Name)
		}
	}
	switch {
	case len(list) == 0:
		return "There are no tools."
	case len(list) > most:
		return "Use one of the tools that you were offered."
	}
	return "There are: " + strings.Join(list, ", ") + "."
}

// clip shortens what a model wrote so that it can be quoted.
func Clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
