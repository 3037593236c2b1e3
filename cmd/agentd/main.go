// Command agentd runs LLM agents that call tools through toolhost. Package internal/cli/agentd
// holds the commands.
package main

import (
	"github.com/toolhost/toolhost/internal/cli/agentd"
)

func main() { agentd.Main() }
