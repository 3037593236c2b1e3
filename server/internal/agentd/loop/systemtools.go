package loop

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// The names of the system tools, which agentd implements. A plugin's tool of the same name replaces
// a system tool only if Config.SystemToolPlugins names the plugin.
const (
	SystemAskUser           = "ask_user"             // a question for a person; see DecideQuestion
	SystemAttemptCompletion = "attempt_completion"   // ends the run
	SystemNewTask           = "new_task"             // starts a sub-run for a part of the task
	SystemCompact           = "compact_conversation" // requests a summary of the conversation
	SystemFinalAnswer       = "final_answer"         // gives the answer of a run with a response schema
	SystemToolSearch        = "tool_search"          // finds tools that the request does not list
)

// SystemTools returns the names of the system tools that a run can choose and that a plugin's tool
// can replace, sorted. That is all but final_answer, which follows from the run's response schema.
func SystemTools() []string {
	var names []string
	for _, spec := range systemSpecs(nil) {
		if spec.Name != SystemFinalAnswer {
			names = append(names, spec.Name)
		}
	}
	return names
}

// systemSpecs returns the specs of the system tools, sorted by name. schema is the run's response
// schema.
func systemSpecs(schema json.RawMessage) []tool.Spec {
	return []tool.Spec{
		{
			Name: SystemAskUser,
			Description: "Ask the user one question and wait for the answer. Use it only for what you cannot find out yourself " +
				"and cannot reasonably assume.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"question":{"type":"string","description":"The question, complete in itself."},` +
				`"options":{"type":"array","items":{"type":"string"},"description":"Answers that you propose. The user may give another."}},` +
				`"required":["question"],"additionalProperties":false}`),
			ReadOnly: true,
		},
		{
			Name: SystemAttemptCompletion,
			Description: "Say that the task is done, and present its result. Call it alone, after you have seen that what you did " +
				"has worked.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"result":{"type":"string","description":"The result of the task, as the user reads it."}},` +
				`"required":["result"],"additionalProperties":false}`),
			ReadOnly: true,
		},
		{
			Name: SystemCompact,
			Description: "Have everything that was said and done so far replaced by a summary, so that there is room to go on. Use it " +
				"when a part of the work is finished and its details are not needed any more. Call it alone.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			ReadOnly:    true,
		},
		finalAnswerSpec(schema),
		{
			Name: SystemNewTask,
			Description: "Hand a self-contained part of the work to another agent, which has the same tools but knows nothing of this " +
				"conversation. You get its final answer and nothing else, so it is good for work whose details you do not need to see, " +
				"such as searching through much material. Several calls in one response work at the same time. Do not use it for what a " +
				"single tool call can do.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"task":{"type":"string","description":"What to do and what to answer, with all that has to be known for it: names, paths, what is known already, how long the answer may be."},` +
				`"tools":{"type":"array","items":{"type":"string"},"description":"Names of the only tools that it may use. Default: all of yours."},` +
				`"attachments":{"type":"array","items":{"type":"string"},"description":"Names of files that the user attached for you, which it gets too. Default: none."}},` +
				`"required":["task"],"additionalProperties":false}`),
		},
		{
			Name: SystemToolSearch,
			Description: "Search for tools that you were not told of: there are more than are listed. What it finds is among your tools " +
				"from the next response on. Search before you say that something cannot be done.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"query":{"type":"string","description":"Words for what the tool should do, such as: convert currency."},` +
				`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools to return at most. Default: 5."}},` +
				`"required":["query"],"additionalProperties":false}`),
			ReadOnly: true,
		},
	}
}

// IsSystemTool reports whether a name belongs to a system tool.
func IsSystemTool(name string) bool {
	return name == SystemFinalAnswer || slices.Contains(SystemTools(), name)
}

// CheckSystemTools returns an error if a name is not one of SystemTools.
func CheckSystemTools(names []string) error {
	for _, name := range names {
		if !slices.Contains(SystemTools(), name) {
			return fmt.Errorf("there is no system tool %q", Clip(name))
		}
	}
	return nil
}

// OfferedSystemTools returns the system tools that the model is offered. It leaves out those that a
// plugin's tool replaces and those that cannot work in this run.
func (r *RunStarted) OfferedSystemTools(offered []tool.Info) []tool.Spec {
	specs := slices.DeleteFunc(systemSpecs(r.ResponseSchema), func(spec tool.Spec) bool {
		replaced := slices.ContainsFunc(offered, func(info tool.Info) bool { return info.Spec.Name == spec.Name })
		return replaced && spec.Name != SystemFinalAnswer || !r.wantsSystem(spec.Name, offered)
	})
	for i := range specs {
		if specs[i].Name == SystemNewTask && len(r.Delegates) > 0 {
			specs[i] = r.delegatingSpec(specs[i])
		}
	}
	return specs
}

func (r *RunStarted) wantsSystem(name string, offered []tool.Info) bool {
	chosen := slices.Contains(r.SystemTools, name)
	switch name {
	case SystemAskUser:
		return chosen && r.People.Attended
	case SystemAttemptCompletion:
		return (chosen || r.ExplicitCompletion) && !r.structured()
	case SystemFinalAnswer:
		return r.structured()
	case SystemNewTask:
		return (chosen || len(r.Delegates) > 0) && r.SubRuns > 0
	case SystemToolSearch:
		return r.defersTools(offered)
	}
	return chosen
}
