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
// The client never retries. After a lost connection, the caller finds out whether a call was
// executed by repeating it with the same call id. A client owns its connection and its goroutines;
// Close waits for them.
package client
