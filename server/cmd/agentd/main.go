// Command agentd runs LLM agents that call tools through toolhost. Package
// server/internal/agentd/commands holds the commands.
package main

import (
	"github.com/toolhost/toolhost/server/internal/agentd/commands"
)

func main() { commands.Main() }
