// Package client is the Go client of toolhost, which lists and calls tools, and of agentd, which
// runs LLM agents.
//
//	c, err := client.Dial("")
//	if err != nil { … }
//	defer c.Close()
//	call, err := client.NewCall("calculator", map[string]any{"expression": "13!"})
//	if err != nil { … }
//	outcome, err := c.Call(ctx, call)
//
// A call can fail in two ways. A failure that the tool reports is a result with IsError, which a
// model should read. An infrastructure failure is an error, always a *tool.Error; its Kind says
// what to do next. errors.Is(err, ErrNoServer) reports whether no server answered.
//
// A client of one toolhost does not repeat calls. After a lost connection, the caller repeats the
// call with the same call id, to learn whether it was executed. A client of several toolhosts
// repeats a call at the next one where that is safe; see Client.Open. A client owns its connection
// and its goroutines; Close waits for them.
package client
