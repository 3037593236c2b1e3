// Package client is the Go client of toolhost: it lists tools, calls them and shows what the plugins do. DialAgent is
// that of agentd, which runs agents.
//
//	c, err := client.Dial("")
//	if err != nil { … }
//	defer c.Close()
//	outcome, err := c.Call(ctx, tool.Call{Tool: "calculator", Arguments: json.RawMessage(`{"expression":"13!"}`)})
//
// A call can fail in two ways. What the tool itself reports is a result with IsError, which a model should read. A
// failure of the machinery is an error, always a *tool.Error whose Kind says what to do; errors.Is(err, ErrNoServer)
// tells that no toolhost answered at all.
//
// The client tries nothing twice: whether a call whose connection was lost has been executed is for the caller to
// find out, with the same call id. It owns its connection and its goroutines, and Close waits for them. What a call
// means is the host's; the words are package tool's.
package client
