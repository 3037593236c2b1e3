package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

func Example() {
	c, err := client.Dial("") // TOOLHOST_ADDR, else this user's socket
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	outcome, err := c.Call(context.Background(), tool.Call{
		Tool:      "calculator",
		Arguments: json.RawMessage(`{"expression":"13!"}`),
	})
	switch {
	case err != nil: // the machinery failed: tool.KindOf(err) says how
		log.Print(err)
	case outcome.Result.IsError: // the tool says that it failed: a model should read it
		fmt.Println("the tool failed:", outcome.Result.Text())
	default:
		fmt.Println(outcome.Result.Text())
	}
}

// The arguments of a call may be sent while a model still writes them, and its events read as they come.
func ExampleClient_Open() {
	c, err := client.Dial("")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx := context.Background()
	call := tool.Call{ID: "run-1.turn-2.0", Tool: "write_file"}
	execution, err := c.Open(ctx, call, false)
	if err != nil {
		log.Print(err)
		return
	}
	defer execution.Close()
	for _, piece := range []string{`{"path":"notes.txt","con`, `tent":"hello"}`} {
		if err := execution.Send(ctx, []byte(piece), false); err != nil {
			log.Print(err)
			return
		}
	}
	if err := execution.Send(ctx, nil, true); err != nil {
		log.Print(err)
		return
	}
	for {
		event, err := execution.Next(ctx)
		if err != nil { // io.EOF after the end
			return
		}
		switch {
		case event.Status != nil:
			fmt.Println(event.Status.State, event.Status.Tip)
		case event.Ended != nil:
			fmt.Println(event.Ended.Result.Text())
		}
	}
}
