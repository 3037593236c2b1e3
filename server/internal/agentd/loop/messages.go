package loop

import (
	"fmt"
	"strings"
)

// The messages that the loop adds to a conversation.
const (
	cutTextMessage   = "Your response was cut at its token limit. Go on exactly where it ended."
	cutCallMessage   = "[not run] The response was cut at its token limit before this call was complete, so it was not made. Make it again, with shorter arguments if possible."
	callsUsedUp      = "[not run] The run has reached its limit of %d tool calls."
	callTooExpensive = "[not run] A use of this tool costs %.4g, and the calls before it use up the run's cost budget of %.4g."
	refusedCall      = "[not run] The response ended with %s, so its calls were not made."
	cancelledCall    = "[cancelled] The run was cancelled before this call began, so it was not made."
	stoppedCall      = "[not run] The run ended before this call began: %s."
	budgetUsedUp     = "[not run] The run has used up a budget: %s."
	emptyMessage     = "Your response was empty: it had no text and no tool call. Go on with the task, or give your answer as text."
	callAsText       = "[not run] Your response is a tool call as text (%s), so nothing was called. Call a tool as a function call of the API, with one of the names that you were offered. If you meant it as your answer, write a sentence and put it in a code block after it."
	nothingShown     = "(The tool succeeded and returned nothing to read.)"
	droppedEffects   = "[context not changed] The tool succeeded, but what it wanted to change in the run's context was refused: %s."
	editedCall       = "[edited] A person approved this call with other arguments than yours. It was made with: %s"
)

// maxRefused is how many refused effects of one call are reported. Three suffice for a model to
// understand the problem.
const maxRefused = 3

// droppedMessage tells the model which effects were refused, and why.
func droppedMessage(dropped []string) string {
	words := strings.Join(dropped[:min(len(dropped), maxRefused)], "; ")
	if more := len(dropped) - maxRefused; more > 0 {
		words += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf(droppedEffects, words)
}
