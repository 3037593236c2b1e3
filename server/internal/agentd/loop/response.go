package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
	"github.com/toolhost/toolhost/tool"
)

// placeholderName replaces a tool name that providers would reject in a conversation.
const placeholderName = "invalid_tool_name"

// CallID returns the id of a call: the run's id, the turn, from 1, and the call's index in the
// response, from 0. The ids of providers are not suitable, because they can be missing, repeat, or
// differ when a request is repeated.
func CallID(runID string, turn, index int) string {
	return fmt.Sprintf("%s.t%d.c%d", runID, turn, index)
}

// Respond returns the event for a response of the model. read is the last event before the request.
// offered are the plugins' tools that the agent admits, available or not. Respond replaces ids and
// names that providers would reject.
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
			call.ID = s.conversation.freshID(call.ID, s.Turn(), index, used)
			if tool.CheckName(call.Name) != nil {
				call.Name = placeholderName
			}
			block = model.Block{ToolCall: &call}
		case block.Text != nil && block.Text.Text == "", block == model.Block{}:
			continue // providers reject empty blocks
		}
		m.Message.Blocks = append(m.Message.Blocks, block)
	}
	return m
}

// empty reports whether a response has nothing for the user and nothing to do: no text but white
// space, and no call. Its thoughts are not kept, because APIs refuse a message that has only those.
// Only a response that the provider paused may consist of other blocks, which have to return.
func (m *AssistantMessage) empty() bool {
	if m.StopReason == model.StopPauseTurn && len(m.Message.Blocks) > 0 {
		return false
	}
	return len(m.Calls) == 0 && strings.TrimSpace(m.Text()) == ""
}

// describe returns the call with the properties of its tool.
func (r *RunStarted) describe(call *model.ToolCall, id string, offered []tool.Info) Call {
	c := Call{ID: id, Tool: call.Name, Arguments: call.Arguments}
	i := slices.IndexFunc(offered, func(info tool.Info) bool { return info.Spec.Name == call.Name })
	system := IsSystemTool(call.Name) && slices.ContainsFunc(r.OfferedSystemTools(offered), func(spec tool.Spec) bool { return spec.Name == call.Name })
	switch {
	case system:
		c.System = call.Name
	case i < 0:
		c.Refusal = fmt.Sprintf("[not_found] There is no tool %q. %s", Clip(call.Name), r.meant(call.Name, offered))
	case offered[i].UnavailableReason != "":
		c.Refusal = fmt.Sprintf("[unavailable] The tool %s cannot be called now: %s", call.Name, offered[i].UnavailableReason)
	default:
		spec := &offered[i].Spec
		c.Serial, c.ReturnDirect, c.SideEffects = spec.Serial, spec.ReturnDirect, spec.HasSideEffects()
		c.Reads, c.Parallel = spec.Reads(), spec.Parallel
		c.DisplayName = Clip(spec.DisplayName)
		c.EffectKeys, c.CostPerUse = spec.EffectKeys, max(spec.CostPerUse, 0)
	}
	return c
}

// meant returns a text that names the tool that a model meant by an unknown name, or other tools.
func (r *RunStarted) meant(name string, offered []tool.Info) string {
	var tools []string
	for _, info := range offered {
		tools = append(tools, info.Spec.Name)
	}
	for _, spec := range r.OfferedSystemTools(offered) {
		tools = append(tools, spec.Name)
	}
	if found := markup.Meant(name, tools); found != "" {
		return fmt.Sprintf("Its name is %s: call it again by that name.", found)
	}
	return r.others(offered)
}

// others returns a text that tells a model that called an unknown tool how to find an existing one.
func (r *RunStarted) others(offered []tool.Info) string {
	if r.defersTools(offered) {
		return "Search for one with " + SystemToolSearch + "."
	}
	return names(offered)
}

// names lists the tools that can be called, unless there are too many to list.
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

// Clip shortens text of a model or a caller so that a message can quote it.
func Clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
